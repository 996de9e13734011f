import { cleanup, render } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, describe, expect, it } from 'vitest';
import type { SessionLine, SourceRow } from '../../api';
import { fixtureHost } from '../../host/fixture';
import { language } from '../../i18n/language.svelte';
import { start } from '../../state';
import { Sessions } from '.';
import { age, agentName, dayName, found, lasted, when } from './facts';

async function until<T>(get: () => T | null | undefined | false): Promise<T> {
  for (let i = 0; i < 200; i++) {
    const value = get();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 10));
    await tick();
  }
  throw new Error(`never came: ${String(get)}`);
}
const find = (css: string) => document.querySelector<HTMLElement>(css);
const texts = (css: string) => [...document.querySelectorAll(css)].map((one) => one.textContent.trim());

const noon = new Date(2026, 4, 10, 12, 0).getTime();
const row = (more: Partial<SourceRow> = {}): SourceRow => ({
  source: 's',
  log: null,
  title: 't',
  path: '~/t',
  project: null,
  cwd: null,
  format: 'codex',
  bytes: 1,
  entries: null,
  modified: noon,
  live: false,
  recent: false,
  looked: true,
  archived: false,
  started: noon - 90 * 60_000,
  ended: noon,
  counts: null,
  parts: 0,
  ...more,
});

afterEach(() => {
  cleanup();
  language.choose('en');
});

describe('a session in words', () => {
  it('says when it ran and for how long', () => {
    expect(when(row(), noon)).toBe('10 May, 10:30–12:00');
    expect(lasted(row())).toBe('1 h 30 min');
    expect(when(row({ started: noon - 86_400_000 }), noon)).toBe('9 May – 10 May');
    expect(when(row({ started: null }), noon)).toBe('10 May, 12:00');
    expect(when(row({ started: null, modified: null }), noon)).toBe('');
    expect(lasted(row({ started: noon - 5000 }))).toBe('');
    expect(lasted(row({ started: noon - 3 * 60_000 }))).toBe('3 min');
    expect(age(noon - 5 * 60_000, noon)).toBe('5 min ago');
    expect(age(noon, noon)).toBe('just now');
  });

  it('names agents and days', () => {
    expect(agentName('claude-code')).toBe('Claude Code');
    expect(agentName('a-new-one')).toBe('a-new-one');
    expect(dayName('yesterday')).toBe('Yesterday');
    expect(dayName('2026-04')).toBe('April 2026');
    language.choose('zh-CN');
    expect(dayName('today')).toBe('今天');
    expect(age(noon - 5 * 60_000, noon)).toBe('5 分钟前');
  });

  it('is found again when others came in above', () => {
    const line = (source: string): SessionLine => ({
      kind: 'session',
      row: row({ source }),
      depth: 0,
      children: 0,
      opened: false,
    });
    const lines = ['x', 'y', 'a', 'b'].map(line);
    expect(found('a', 0, (index) => lines[index], lines.length)).toBe(2);
    expect(found('gone', 1, (index) => lines[index], lines.length)).toBe(1);
    expect(found(null, 1, (index) => lines[index], lines.length)).toBeNull();
  });
});

describe('all sessions in the page', () => {
  it('stand under projects, are searched, folded and grouped by day', async () => {
    await start(fixtureHost(new URLSearchParams('sessions=200&log=none')));
    render(Sessions);
    await until(() => find('[data-testid="logs-list"] [data-source]'));
    expect(find('[data-testid="logs-count"]')?.textContent).toBe('200 sessions');
    const heads = texts('[data-testid="logs-list"] .group b');
    expect(heads[0]).toBe('shop');
    const first = find('[data-testid="logs-list"] [data-source]');
    expect(first?.textContent).toContain('Claude Code');
    expect(first?.closest('[role="treeitem"]')?.getAttribute('aria-label')).toMatch(
      /^Make the prices .*, Claude Code, shop, live/u,
    );
    // What is not counted yet keeps its place.
    expect(document.querySelectorAll('[data-counted="false"] .wait').length % 2).toBe(0);

    find('[data-testid="logs-list"] .group')?.click();
    await until(() => texts('[data-testid="logs-list"] .group b')[1] === 'billing-api');

    const input = find('[data-testid="logs-filter"]');
    if (!(input instanceof HTMLInputElement)) throw new Error('no field');
    input.value = 'manual billing';
    input.dispatchEvent(new Event('input', { bubbles: true }));
    await until(() => find('[data-testid="logs-count"]')?.textContent.includes(' of 200'));
    for (const title of texts('[data-testid="logs-list"] .title .cut')) expect(title).toContain('manual');

    input.value = 'nothing of the kind';
    input.dispatchEvent(new Event('input', { bubbles: true }));
    await until(() => find('[data-testid="logs-none"]'));
    find('[data-testid="logs-none"] button')?.click();
    document.querySelectorAll<HTMLElement>('[data-testid="logs-by"] button')[1]?.click();
    await until(() => texts('[data-testid="logs-list"] .group b')[0] === 'Today');
  });
});
