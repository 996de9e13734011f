import { mount } from 'svelte';
import App from './App.svelte';
import { desktopHost, inDesktop } from './host/tauri';
import './kit/index.css';
import { start } from './state';

async function run(): Promise<void> {
  const target = document.getElementById('app');
  if (!target) return;
  if (inDesktop()) {
    void start(desktopHost());
  } else if (import.meta.env.MODE !== 'production') {
    // In a browser: made-up logs and chips, in the page itself. Not part of what the desktop embeds.
    const { fixtureHost } = await import('./host/fixture');
    void start(fixtureHost(new URLSearchParams(location.search)));
  }
  mount(App, { target });
}

void run();
