import { cleanup, render } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { request } from '../../host';
import { fixtureHost } from '../../host/fixture';
import { player, restores, selection, start, toasts } from '../../state';
import Restore from '../restore';
import { restoring } from '../restore/flow.svelte';
import Chips from '.';

async function until<T>(get: () => T | null | undefined | false): Promise<T> {
  for (let i = 0; i < 200; i++) {
    const found = get();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
    await tick();
  }
  throw new Error(`never came: ${String(get)}`);
}
const find = (css: string) => document.querySelector<HTMLElement>(css);
const press = async (css: string) => (await until(() => find(css))).click();

async function open(query: string) {
  await start(fixtureHost(new URLSearchParams(query)));
  render(Chips);
  render(Restore);
  await until(() => find('[data-id="d245aa"]'));
}

beforeEach(() => {
  selection.chip = null;
  toasts.list = [];
  player.eject();
});
afterEach(() => {
  restoring.cancel();
  cleanup();
});

describe('chips in the page', () => {
  it('show the newest, and say what the next one evicts', async () => {
    await open('log=none');
    expect(find('[data-testid="chips"]')?.textContent).toContain('30 of 30, the next one evicts the oldest');
    await until(() => find('[data-testid="chip"]')?.dataset['chip']);
    expect(find('[data-testid="chip"]')?.textContent).toContain('write: missing content argument');
  });

  it('go back by one click that names file and line, and come out again by undo', async () => {
    await open('log=none');
    await press('[data-id="d245aa"]');
    const button = await until(() => {
      const one = find('[data-testid="chip-restore-button"]');
      return (
        one?.textContent?.includes('payment_service.py') && one.getAttribute('aria-disabled') === null && one
      );
    });
    expect(button.textContent?.replace(/\s+/g, ' ')).toContain('Restore to payment_service.py:30');
    expect(find('[data-testid="chip-diff"]')?.textContent).toContain('verify_card');
    button.click();
    const toast = await until(() => toasts.list.at(-1));
    expect(toast).toMatchObject({ text: 'Restored payment_service.py:30' });
    expect(find('[data-testid="restore-dialog"]')).toBeNull();
    const history = await request({ type: 'history', offset: 0, limit: 5 });
    expect(history.rows.map((row) => row.kind)).toEqual(['putBack']);
    await restores.undo();
    const after = await request({ type: 'history', offset: 0, limit: 5 });
    expect(after.rows.map((row) => row.undoOf)).toEqual([history.rows[0]?.restore, null]);
  });

  it('are not written over what exists nowhere else without being asked; the safe choice has the focus', async () => {
    await open('log=none&restore=overwrite');
    await press('[data-id="d245aa"]');
    await until(() => find('[data-testid="chip-restore-row"]')?.dataset['state'] === 'overwrite');
    await press('[data-testid="chip-restore-button"]');
    const keep = await until(() => find('[data-testid="restore-keep"]'));
    await until(() => document.activeElement === keep);
    keep.click();
    await until(() => !find('[data-testid="restore-dialog"]'));
    expect((await request({ type: 'history', offset: 0, limit: 5 })).total).toBe(0);
    await press('[data-testid="chip-restore-button"]');
    await press('[data-testid="restore-overwrite"]');
    await until(() => toasts.list.at(-1)?.undo);
  });

  it('write nothing until every conflict is settled', async () => {
    await open('log=none&restore=conflict');
    await press('[data-id="d245aa"]');
    await until(() => find('[data-testid="chip-restore-row"]')?.dataset['state'] === 'conflicts');
    await press('[data-testid="chip-restore-button"]');
    await until(
      () => document.activeElement === find('[data-testid="settle-ours"]') && document.activeElement,
    );
    const apply = () => find('[data-testid="restore-apply"]') as HTMLButtonElement;
    expect(apply().disabled).toBe(true);
    await press('[data-conflict="0"] [data-testid="settle-ours"]');
    await until(() => find('[data-testid="settled"]')?.textContent === '1 of 2 settled');
    expect(apply().disabled).toBe(true);
    await press('[data-conflict="1"] [data-testid="settle-theirs"]');
    await until(() => !apply().disabled);
    apply().click();
    await until(() => toasts.list.at(-1)?.undo);
  });

  it('are not guessed into one of several places', async () => {
    await open('log=none&restore=places');
    await press('[data-id="d245aa"]');
    await until(() => find('[data-testid="chip-restore-row"]')?.dataset['state'] === 'candidates');
    await press('[data-testid="chip-restore-button"]');
    const places = await until(() => document.querySelectorAll<HTMLElement>('[data-testid="candidate"]'));
    expect([...places].map((one) => /after line \d+/.exec(one.textContent ?? '')?.[0])).toEqual([
      'after line 12',
      'after line 40',
    ]);
    places[1]?.click();
    await until(() => find('[data-testid="restore-apply"]'));
    expect((await request({ type: 'history', offset: 0, limit: 5 })).total).toBe(0);
  });

  it('are shown anew when the disk moved between preview and click', async () => {
    await open('log=none&restore=moved');
    await press('[data-id="d245aa"]');
    await until(() => find('[data-testid="chip-restore-row"]')?.dataset['state'] === 'ready');
    await press('[data-testid="chip-restore-button"]');
    const dialog = await until(() => find('[data-testid="restore-dialog"]'));
    await until(() => dialog.textContent?.includes('The disk changed after the preview'));
    await press('[data-testid="restore-apply"]');
    await until(() => toasts.list.at(-1)?.undo);
  });
});
