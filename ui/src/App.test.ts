/** The whole page on the fixture: it opens, moves by keys, speaks both languages, and takes text for text. */
import { cleanup, render, screen, waitFor } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, describe, expect, it } from 'vitest';
import App from './App.svelte';
import type { Host } from './host';
import { fixtureHost } from './host/fixture';
import { overlay, player, selection, settings, start, toasts } from './state';

const EVIL = '<img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=1</script>{@html 1}';

/** The fixture with every text that a log or a chip could hold made hostile. */
function hostile(): Host {
  const inner = fixtureHost(new URLSearchParams());
  const KEPT =
    /^(type|kind|phase|status|certainty|why|state|severity|role|log|source|chip|plan|restore|path|format|op|watch|note|endings|key|value|search|id|platform|eventId|action|code|spaceId|workspace|snapshot)$/u;
  const spoil = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return KEPT.test(key) ? value : EVIL + value;
    if (Array.isArray(value)) return value.map((one) => spoil(one, key));
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, spoil(one, name)]));
    return value;
  };
  return {
    ask: async (request) => {
      const reply = await inner.ask(request);
      return request.type === 'hello' || request.type === 'getSettings'
        ? reply
        : (spoil(reply, '') as typeof reply);
    },
    listen: inner.listen,
  };
}

async function open(host: Host) {
  await start(host);
  render(App);
  await tick();
}

const press = (key: string, more: KeyboardEventInit = {}) =>
  window.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));

describe('the page', () => {
  afterEach(() => {
    cleanup();
    overlay.close();
    player.eject();
    toasts.list = [];
    selection.tab = 'chips';
  });

  it('shows the log with the playhead at its end and moves it by keys', async () => {
    await open(fixtureHost(new URLSearchParams()));
    const playhead = await screen.findByTestId('playhead');
    await waitFor(() => expect(playhead.getAttribute('aria-valuenow')).toBe(String(player.count)));
    press('Home');
    await waitFor(() => expect(playhead.getAttribute('aria-valuenow')).toBe('0'));
    press('ArrowRight');
    await waitFor(() => expect(playhead.getAttribute('aria-valuenow')).toBe('1'));
    expect(screen.getByTestId('transport-position').textContent).toBe('1');
    expect(screen.getByTestId('tab-files').getAttribute('aria-selected')).toBe('true');
  });

  it('switches the language while it is shown', async () => {
    await open(fixtureHost(new URLSearchParams()));
    expect((await screen.findByTestId('tab-findings')).textContent).toContain('Findings');
    await settings.set('ui.language', 'zh-CN');
    await tick();
    expect(screen.getByTestId('tab-findings').textContent).toContain('问题');
    await settings.set('ui.language', 'en');
  });

  it('has a page for nothing, and disables what needs a log', async () => {
    await open(fixtureHost(new URLSearchParams('state=empty')));
    expect(await screen.findByTestId('start-page')).toBeTruthy();
    expect(screen.getByTestId('tab-files').getAttribute('aria-disabled')).toBe('true');
    expect((screen.getByTestId('transport-play') as HTMLButtonElement).disabled).toBe(true);
  });

  it('shows real progress with a cancel while a log opens, and what was read after it', async () => {
    await open(fixtureHost(new URLSearchParams('state=loading&still')));
    const bar = await screen.findByRole('progressbar');
    expect(Number(bar.getAttribute('aria-valuenow'))).toBeGreaterThan(40);
    screen.getByTestId('loading-cancel').click();
    await waitFor(() => expect(player.log?.phase).toBe('cancelled'));
    await waitFor(() => expect(screen.queryByTestId('loading')).toBeNull());
    expect(player.count).toBeGreaterThan(0);
  });

  it('says why a log was not opened', async () => {
    await open(fixtureHost(new URLSearchParams('state=failed')));
    expect((await screen.findByTestId('log-failed')).textContent).toContain('not JSON');
  });

  it('says before a drop what it would do', async () => {
    await open(fixtureHost(new URLSearchParams('state=drop')));
    const zone = await screen.findByTestId('drop-zone');
    expect(zone.textContent).toContain('Drop to open 2 of 3 items');
    expect(zone.textContent).toContain('a zip archive');
  });

  it('never makes markup of what a log holds, on any tab', async () => {
    await open(hostile());
    await waitFor(() => expect(player.moment).not.toBeNull());
    for (const tab of ['files', 'dialogue', 'tools', 'chips', 'findings', 'snapshots', 'history'] as const) {
      selection.show(tab);
      await new Promise((resolve) => setTimeout(resolve, 120));
      expect(document.querySelectorAll('img, script[src=""], iframe, object, embed').length, tab).toBe(0);
      expect(
        Array.from(document.querySelectorAll('script')).some((one) => one.textContent?.includes('pwned')),
        tab,
      ).toBe(false);
    }
    press('k', { ctrlKey: true });
    await tick();
    expect(document.body.textContent).toContain('<img src=x');
    expect((globalThis as { pwned?: number }).pwned).toBeUndefined();
  });
});
