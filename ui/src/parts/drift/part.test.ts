import { cleanup, render } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { request } from '../../host';
import { fixtureHost } from '../../host/fixture';
import { inquiry, player, selection, start, toasts } from '../../state';
import Message from '../dialogue/Message.svelte';
import Findings from '../findings';

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
const all = (css: string) => [...document.querySelectorAll<HTMLElement>(css)];
const press = async (css: string) => (await until(() => find(css))).click();
const says = (css: string) => find(css)?.textContent?.replace(/\s+/gu, ' ').trim() ?? '';

async function open(query = '') {
  await start(fixtureHost(new URLSearchParams(query)));
  inquiry.findings = 'drift';
  inquiry.repairing = false;
  render(Findings);
}

beforeEach(() => {
  HTMLDialogElement.prototype.showModal ??= vi.fn();
  HTMLDialogElement.prototype.close ??= vi.fn();
  toasts.list = [];
  player.eject();
  selection.tab = 'findings';
});
afterEach(() => {
  cleanup();
  inquiry.findings = 'found';
});

describe('the drift list', () => {
  it('says both sides of each, and goes to the events', async () => {
    await open();
    await until(() => find('[data-testid="drift"]'));
    await until(() => says('[data-testid="findings-view"] [data-value="drift"]') === 'Drift 3');
    expect(all('[data-testid="drifts"] .tall')).toHaveLength(3);
    expect(says('[data-testid="drift"] h2')).toBe('The dialogue says ok; the execution says denied.');
    const { rows } = await request({ type: 'drifts', log: 'log-1', offset: 0, limit: 3 });
    const [row, , last] = rows;
    await press('[data-testid="drift-go-claim"]');
    expect(player.at).toBe(row?.index);
    await press('[data-testid="drift-go-call"]');
    expect(player.at).toBe(row?.callIndex);
    await press('[data-testid="drift-go-result"]');
    expect(player.at).toBe(row?.resultIndex);
    // Said to be ok, and never done: no call to go to.
    all('[data-testid="drifts"] .list__row').at(-1)?.click();
    await until(() => find(`[data-testid="drift"][data-call="${last?.callId}"]`));
    expect(says('[data-testid="drift"] h2')).toBe('The dialogue says ok; the execution has no result of it.');
    expect(find('[data-testid="drift-go-call"]')).toBeNull();
  });

  it('is repaired after a preview that shows the very lines and names the file', async () => {
    await open();
    await press('[data-testid="drift-repair"]');
    const button = await until(() => find('[data-testid="repair-apply"]'));
    expect(button.textContent.trim()).toBe('Append 3 corrections to dialog.jsonl');
    expect(says('[data-testid="repair-note"]')).toContain('not taken back by Undo');
    const lines = all('[data-testid="repair-line"] pre').map((one) => one.textContent);
    expect(lines.map((one) => (JSON.parse(one) as { type: string }).type)).toEqual(
      Array(3).fill('message.correction'),
    );
    const before = player.count;
    button.click();
    await until(() => toasts.list.at(-1)?.text === 'Appended 3 corrections to dialog.jsonl');
    await until(() => find('[data-testid="drift-open"]')?.dataset['open'] === '0');
    expect(says('[data-testid="findings-view"] [data-value="drift"]')).toBe('Drift 0');
    expect(player.count).toBe(before + 3);
    expect(all('[data-testid="drifts"] .tall').every((one) => one.dataset['settled'])).toBe(true);
    expect(find('[data-testid="drift-repair"]')).toHaveProperty('disabled', true);
    await until(() => find('[data-testid="drift-settled"]'));
    await press('[data-testid="drift-go-correction"]');
    expect(player.at).toBeGreaterThan(before);
  });

  it.each([
    ['torn', 'The last line of dialog.jsonl has no line end'],
    ['foreign', 'Only a log in the canonical format can be repaired'],
  ])('says why it cannot be repaired: %s', async (trouble, sentence) => {
    await open(`drift=${trouble}`);
    await press('[data-testid="drift-repair"]');
    await until(() => find('[data-testid="repair-fault"]'));
    expect(says('[data-testid="repair-fault"]')).toContain(sentence);
    expect(find('[data-testid="repair-apply"]')).toBeNull();
  });

  it('appends nothing to a file that changed since the preview, and looks again', async () => {
    await open('drift=moved');
    await press('[data-testid="drift-repair"]');
    await press('[data-testid="repair-apply"]');
    await until(() => find('[data-testid="repair-fault"]'));
    expect(says('[data-testid="repair-fault"]')).toContain('dialog.jsonl is not what the preview showed');
    await press('[data-testid="repair-again"]');
    await until(() => find('[data-testid="repair-apply"]'));
  });

  it('of a log that has none says that both sessions agree', async () => {
    await open('drift=none');
    await until(() => find('[data-testid="drifts-empty"]'));
    expect(says('[data-testid="drifts-empty"]')).toContain('The dialogue and the execution agree');
  });
});

describe('the dialogue', () => {
  it('marks the row that claims otherwise', async () => {
    await start(fixtureHost(new URLSearchParams()));
    const { rows } = await request({ type: 'drifts', log: 'log-1', offset: 0, limit: 1 });
    const claim = rows[0];
    if (!claim) throw new Error('no drift');
    const said = await request({ type: 'dialogue', log: 'log-1', at: claim.index, offset: 0, limit: 9999 });
    const row = said.rows.find((one) => one.index === claim.index);
    if (!row) throw new Error('no such message');
    render(Message, { row, chosen: false, now: false, onchoose: () => {} });
    await until(() => find('[data-testid="message-drift"]'));
    expect(says('[data-testid="message-drift"]')).toContain(
      'Drift said ok; the execution says denied Go to the result',
    );
  });
});

describe('the diagnosis', () => {
  it('runs, lists what it found, and goes to the event', async () => {
    await open();
    await press('[data-testid="diagnose"]');
    await until(() => find('[data-testid="diagnosis"]'));
    const counts = all('[data-testid="diagnosis"] .kinds li').map((one) => [
      one.dataset['kind'],
      one.dataset['count'],
    ]);
    expect(counts).toEqual([
      ['tie', '2'],
      ['not-idempotent', '1'],
      ['hidden-input', '0'],
      ['timeout', '1'],
    ]);
    const row = all('[data-testid="diagnosis-rows"] .tall').at(2);
    row?.click();
    await until(() => player.at === Number(row?.dataset['at']));
  });

  it('that finds nothing says what it looked at', async () => {
    await open('drift=none');
    await press('[data-testid="diagnose"]');
    await until(() => find('[data-testid="diagnosis"]'));
    expect(says('[data-testid="diagnosis"] .told')).toContain('Nothing was found in');
    expect(says('[data-testid="diagnosis"] .kinds')).toContain('applied twice');
  });
});
