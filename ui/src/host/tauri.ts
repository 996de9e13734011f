/** The desktop as a host: two commands, one channel. The only file that imports the desktop's API. */
import { Channel, invoke } from '@tauri-apps/api/core';
import type { Notice } from '../api';
import type { Host } from '.';

export function desktopHost(): Host {
  return {
    async ask(request) {
      const reply: unknown = await invoke('request', { request });
      // Large replies come as bytes.
      if (reply instanceof ArrayBuffer) return JSON.parse(new TextDecoder().decode(reply));
      return reply as never;
    },
    listen(hear) {
      let heard = true;
      const channel = new Channel<Notice>((notice) => {
        if (heard) hear(notice);
      });
      void invoke('subscribe', { channel });
      return () => {
        heard = false;
      };
    },
  };
}

/** Whether the page stands in the desktop's window. */
export function inDesktop(): boolean {
  return '__TAURI_INTERNALS__' in globalThis;
}
