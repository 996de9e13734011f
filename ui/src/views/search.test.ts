import { cleanup, render } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fixtureHost } from '../host/fixture';
import { player, search, start, toasts } from '../state';
import SearchBar from './SearchBar.svelte';

async function until<T>(get: () => T | null | undefined | false): Promise<T> {
  for (let i = 0; i < 300; i++) {
    const found = get();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
    await tick();
  }
  throw new Error(`never came: ${String(get)}`);
}
const find = <T extends HTMLElement>(id: string) => document.querySelector<T>(`[data-testid="${id}"]`);
const press = (key: string) =>
  document.activeElement?.dispatchEvent(
    new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }),
  );

beforeEach(async () => {
  player.eject();
  toasts.list = [];
  await start(fixtureHost(new URLSearchParams()));
  await until(() => player.ready);
});
afterEach(() => {
  search.close();
  cleanup();
});

describe('the search', () => {
  it('moves the focus to the hits by Enter, back to the field by Escape, and back to where it came from', async () => {
    const before = document.createElement('button');
    document.body.append(before);
    before.focus();
    search.show();
    render(SearchBar);
    const field = await until(() => find<HTMLInputElement>('search-input'));
    await until(() => document.activeElement === field);
    field.value = 'be-delete';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    press('Enter');
    await until(() => document.activeElement === find('hit-next'));
    expect(player.search).not.toBeNull();
    press('Escape');
    expect(document.activeElement).toBe(field);
    expect(search.open).toBe(true);
    press('Escape');
    expect(search.open).toBe(false);
    expect(document.activeElement).toBe(before);
    before.remove();
  });

  it('goes on from the other end behind the last hit, and says so', async () => {
    await search.start('be-delete');
    await until(() => search.view?.done && search.view.total > 1);
    player.seek(player.count);
    await search.next();
    await until(() => player.at < player.count);
    expect(toasts.list.at(-1)?.text).toBe('Wrapped: on from the first hit');
    const first = player.at;
    await search.previous();
    await until(() => player.at > first);
    expect(toasts.list.at(-1)?.text).toBe('Wrapped: on from the last hit');
    await search.previous();
    expect(player.at).toBeGreaterThan(first);
  });
});
