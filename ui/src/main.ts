import { mount } from 'svelte';
import App from './App.svelte';
import { desktopHost, inDesktop } from './host/tauri';
import './kit/index.css';
import { start } from './state';

/** The page waits this long for its first answers, so that it need not be drawn twice. */
const FIRST_MS = 400;

async function connect(): Promise<void> {
  if (inDesktop()) return start(desktopHost());
  if (import.meta.env.MODE !== 'production') {
    // In a browser: made-up logs and chips, in the page itself. Not part of what the desktop embeds.
    const { fixtureHost } = await import('./host/fixture');
    return start(fixtureHost(new URLSearchParams(location.search)));
  }
}

async function run(): Promise<void> {
  const target = document.getElementById('app');
  if (!target) return;
  await Promise.race([connect(), new Promise((resolve) => setTimeout(resolve, FIRST_MS))]);
  mount(App, { target });
}

void run();
