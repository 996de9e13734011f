/** Connects the state to a host: the first request, and who hears which notice. */
import type { Notice } from '../api';
import { words } from '../i18n';
import { onNotice, Refused, request, useHost, type Host } from '../host';
import { inquiry } from './inquiry.svelte';
import { library } from './library.svelte';
import { news } from './news.svelte';
import { overlay } from './overlay.svelte';
import { player } from './player.svelte';
import { search } from './search.svelte';
import { selection } from './selection.svelte';
import { settings } from './settings.svelte';
import { platform } from './platform.svelte';
import { whatif } from './whatif.svelte';
import { toasts, type ToastLevel } from './toasts.svelte';

export async function start(host: Host): Promise<void> {
  useHost(host);
  onNotice(hear);
  try {
    const hello = await request({ type: 'hello' });
    settings.take(hello.settings);
    player.speed = settings.speed;
    player.paced = settings.paced;
    const focus = hello.focus ?? hello.openLogs.at(-1) ?? null;
    platform.take(hello.version, hello.platform, hello.demo ? focus : null);
    await Promise.all([library.load(), focus === null ? null : player.open(focus)]);
    // No chip to look at, but logs on this machine: those first.
    if (focus === null && library.chipless && (library.view?.logs.length ?? 0) > 0) selection.tab = 'logs';
  } catch (thrown) {
    toasts.fault(Refused.from(thrown));
  }
}

const LEVELS: readonly ToastLevel[] = ['ok', 'info', 'warning', 'error'];

export function hear(notice: Notice): void {
  news.hear(notice);
  whatif.hear(notice);
  switch (notice.type) {
    case 'libraryChanged':
    case 'chipsChanged':
    case 'snapshotsChanged':
      library.refresh();
      break;
    case 'settingsChanged':
      settings.take(notice.view);
      break;
    case 'opened':
      overlay.drop = null;
      overlay.refused = notice.refused;
      library.refresh();
      if (notice.root !== null) toasts.say('info', words.folderOpened(notice.root));
      if (notice.focus !== null) {
        if (platform.demoAsked) platform.demo = notice.focus;
        platform.demoAsked = false;
        void player.open(notice.focus);
      } else if (notice.chip !== null) selection.show('chips', { chip: notice.chip });
      break;
    case 'log':
      player.hear(notice.view);
      break;
    case 'logProgress':
      player.hearProgress(notice.log, notice.progress);
      break;
    case 'searchProgress':
      search.hear(notice.log, notice);
      break;
    case 'diagnoseProgress':
      inquiry.hear(notice);
      break;
    case 'dropHover':
      overlay.drop = notice.items;
      break;
    case 'dropLeave':
      overlay.drop = null;
      break;
    case 'message': {
      const level = LEVELS.find((one) => one === notice.level) ?? 'info';
      toasts.say(level, notice.text);
      break;
    }
  }
}
