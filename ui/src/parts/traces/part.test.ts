import { cleanup, render } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { request } from '../../host';
import { fixtureHost } from '../../host/fixture';
import { inquiry, player, selection, start } from '../../state';
import Tools from '../tools';
import { barOf, ticks } from './axis';

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

beforeEach(async () => {
  player.eject();
  inquiry.traced = null;
  await start(fixtureHost(new URLSearchParams()));
  render(Tools);
});
afterEach(() => {
  cleanup();
  inquiry.tools = 'calls';
});

describe('traces', () => {
  it('stand in their order, and one as a tree with bars on one axis', async () => {
    inquiry.showTools('traces');
    expect(selection.tab).toBe('tools');
    await until(() => find('[data-testid="walk"]'));
    const { rows } = await request({ type: 'traces', log: 'log-1', offset: 0, limit: 3 });
    expect(
      all('[data-testid="traces"] .tall')
        .slice(0, 3)
        .map((one) => one.dataset['trace']),
    ).toEqual(rows.map((row) => row.traceId));
    expect(find('[data-testid="walk"]')?.dataset['id']).toBe(rows[0]?.traceId);
    await until(() => find('[data-testid="walk-rows"] [data-depth="1"]'));
    expect(all('[data-testid="walk-bar"]').length).toBeGreaterThan(3);
    expect(all('[data-testid="walk-rows"] .list__row').at(0)?.getAttribute('aria-level')).toBe('1');
    const row = all('[data-testid="walk-rows"] .cols').at(3);
    row?.click();
    expect(player.at).toBe(Number(row?.dataset['at']));
    all('[data-testid="traces"] .list__row').at(1)?.click();
    await until(() => find('[data-testid="walk"]')?.dataset['id'] === rows[1]?.traceId);
  });

  it('mark a parent that is missing, or comes later', async () => {
    const { rows } = await request({ type: 'traces', log: 'log-1', offset: 0, limit: 1 });
    const trace = rows[0]?.traceId ?? '';
    const view = await request({ type: 'trace', log: 'log-1', trace, offset: 0, limit: 999 });
    inquiry.showTraced('trace', trace);
    for (const [note, sentence] of [
      ['missing', 'its parent is not in the log'],
      ['later', 'comes later'],
    ]) {
      const at = view.rows.findIndex((row) => row.parentNote === note);
      expect(at).toBeGreaterThan(0);
      const list = await until(() => find('[data-testid="walk-rows"]'));
      list.scrollTop = at * 28;
      list.dispatchEvent(new Event('scroll'));
      const row = await until(() => find(`[data-testid="walk-rows"] [data-note="${note}"]`));
      expect(row.textContent).toContain(sentence);
    }
  });

  it('of the event at the playhead, and its operation over both sessions', async () => {
    const { rows } = await request({ type: 'tools', log: 'log-1', at: 500, offset: 0, limit: 1, only: null });
    player.seek(rows[0]?.index ?? 0);
    expect(await inquiry.showTracedHere('operation')).toBe(true);
    await until(() => find('[data-testid="walk"][data-kind="operation"]'));
    expect(find('[data-testid="walk-sides"]')?.textContent).toMatch(/\d+ said, \d+ done/u);
    player.seek(0);
    expect(await inquiry.showTracedHere('trace')).toBe(false);
  });
});

describe('figures', () => {
  it('are the calls by tool and outcome, sorted by any column', async () => {
    inquiry.showTools('figures');
    await until(() => find('[data-testid="figures"]'));
    const { tools, calls } = await request({ type: 'figures', log: 'log-1', at: player.at });
    const shown = () => all('[data-testid="figures"] tbody tr').map((one) => one.dataset['tool']);
    const names = (of: (a: (typeof tools)[number], b: (typeof tools)[number]) => number) =>
      [...tools].sort((a, b) => of(a, b) || a.toolName.localeCompare(b.toolName)).map((one) => one.toolName);
    expect(shown()).toEqual(names((a, b) => b.calls - a.calls));
    find('[data-column="longestMs"]')?.click();
    await tick();
    expect(shown()).toEqual(names((a, b) => (b.longestMs ?? 0) - (a.longestMs ?? 0)));
    find('button[data-column="toolName"]')?.click();
    await tick();
    expect(shown()).toEqual(names(() => 0));
    const foot = find('[data-testid="figures"] tfoot [data-column="calls"]')?.textContent ?? '';
    expect(Number(foot.replaceAll(',', ''))).toBe(calls);
  });
});

describe('bars', () => {
  const axis = { start: 1000, end: 2000 };
  it('stand where their time is, and are never too thin to see nor beyond the end', () => {
    expect(barOf(axis, 1250, 500)).toEqual({ left: 25, width: 50, point: false });
    expect(barOf(axis, 1000, null)).toMatchObject({ left: 0, point: true });
    const last = barOf(axis, 2000, 1);
    expect(last && last.left + last.width).toBe(100);
    expect(last?.width).toBeGreaterThan(0);
    expect(barOf(axis, null, 5)).toBeNull();
    expect(barOf(null, 5, 5)).toBeNull();
  });
  it('of an axis without length stand at its beginning', () => {
    expect(barOf({ start: 5, end: 5 }, 5, 0)).toMatchObject({ left: 0 });
    expect(ticks({ start: 5, end: 5 })).toEqual([0]);
    expect(ticks(axis)).toEqual([0, 500]);
  });
});
