import { cleanup, render } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fixtureHost } from '../../host/fixture';
import { player, selection, start, toasts } from '../../state';
import { restoring } from '../restore/flow.svelte';
import Files from '.';

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
const PAYMENT = '/home/li/billing-api/app/services/payment_service.py';
const UNKNOWN = '/home/li/billing-api/generated/schema_pb2.py';
const row = (name: string) => find(`[data-testid="tree"] [data-path$="${name}"]`);
const lines = () =>
  [...document.querySelectorAll('[data-testid="diff"] .l code')].map((code) => code.textContent);

async function open() {
  await start(fixtureHost(new URLSearchParams()));
  render(Files);
  await until(() => row('payment_service.py'));
}

beforeEach(() => {
  player.eject();
  toasts.list = [];
});
afterEach(() => {
  restoring.cancel();
  cleanup();
});

describe('files in the page', () => {
  it('stand under their folders with status and certainty, by word and glyph', async () => {
    await open();
    const tree = find('[data-testid="tree"]');
    expect(tree?.textContent).toContain('app/services');
    expect(row('legacy_gateway.py')?.dataset['status']).toBe('D');
    expect(row('legacy_gateway.py')?.querySelector('.gone')).not.toBeNull();
    const item = row('legacy_gateway.py')?.closest('[role="treeitem"]');
    expect(item?.getAttribute('aria-label')).toMatch(/legacy_gateway\.py, deleted, exact/);
    find('[data-folder="app/services"]')?.click();
    find('[data-folder="app/models"]')?.click();
    const unknown = await until(() => row('schema_pb2.py')?.querySelector('[data-certainty="unknown"]'));
    expect(unknown.textContent).toContain('unknown');
  });

  it('fold by a click, and the head keeps the choice', async () => {
    await open();
    row('payment_service.py')?.click();
    await until(() => find('[data-testid="file-head"]')?.dataset['path'] === PAYMENT);
    find('[data-folder="app/services"]')?.click();
    await until(() => !row('payment_service.py'));
    expect(find('[data-testid="file-head"]')?.dataset['path']).toBe(PAYMENT);
  });

  it('follow the playhead: another position, another diff', async () => {
    await open();
    row('payment_service.py')?.click();
    await until(() => lines().length);
    const now = lines();
    const versions = find('[data-testid="versions-open"]')?.textContent?.trim();
    await player.step({ kind: 'fileChange', path: PAYMENT }, false);
    await player.step({ kind: 'fileChange', path: PAYMENT }, false);
    await until(() => lines().join() !== now.join() && lines().length);
    await until(() => find('[data-testid="versions-open"]')?.textContent?.trim() !== versions);
    expect(selection.path).toBe(PAYMENT);
  });

  it('give a hunk back by one click, its lines named and its preview on screen before', async () => {
    await open();
    row('payment_service.py')?.click();
    await player.step({ kind: 'fileChange', path: PAYMENT }, false);
    await until(() => find('[data-testid="diff"]'));
    const button = await until(() => find('[data-testid="restore-hunk"]'));
    expect(button.getAttribute('aria-label')).toMatch(
      /(lines? [\d,]+(–[\d,]+)? (out )?of) .*payment_service\.py$/,
    );
    expect(find('[data-testid="hunk-preview"]')).toBeNull();
    button.parentElement?.dispatchEvent(new Event('pointerenter'));
    const card = await until(() => find('[data-testid="hunk-preview"]'));
    expect(card.textContent).toContain('payment_service.py');
    expect(card.querySelectorAll('.l--a, .l--d').length).toBeGreaterThan(0);
    expect(toasts.list).toEqual([]);
    button.click();
    button.click();
    const toast = await until(() => toasts.list.at(-1));
    expect(toast.undo, toast.text).not.toBeNull();
    expect(toast.text).toContain('payment_service.py');
    // What is on disk now is marked, and offers nothing more.
    await until(() => find('[data-testid="hunk-restore"][data-state="there"]'));
    expect(toasts.list.filter((one) => one.undo)).toHaveLength(1);
  });

  it('show the preview of a hunk first, where the click comes before it is on screen', async () => {
    await open();
    row('payment_service.py')?.click();
    await player.step({ kind: 'fileChange', path: PAYMENT }, false);
    (await until(() => find('[data-testid="restore-hunk"]'))).click();
    await until(() => restoring.open && restoring.plan);
    expect(toasts.list).toEqual([]);
  });

  it('say it when the content is not known', async () => {
    await open();
    selection.choosePath(UNKNOWN);
    (await until(() => find('[data-testid="file-form"] [data-value="content"]'))).click();
    expect((await until(() => find('[data-testid="file-unknown"]'))).textContent).toContain('not known');
  });

  it('say it when the file is deleted, and lead to its last version', async () => {
    await open();
    row('legacy_gateway.py')?.click();
    find('[data-testid="file-form"] [data-value="content"]')?.click();
    const gone = await until(() => find('[data-testid="file-gone"]'));
    gone.querySelector('button')?.click();
    await until(() => find('[data-testid="content"]'));
  });
});
