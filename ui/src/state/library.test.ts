import { describe, expect, it } from 'vitest';
import type { SourceRow } from '../api';
import { byProject, groupLogs } from './library.svelte';

const now = new Date(2026, 4, 10, 15, 0).getTime();
const row = (title: string, hours: number | null, more: Partial<SourceRow> = {}): SourceRow => ({
  source: title,
  log: null,
  title,
  path: title,
  project: null,
  format: 'canonical',
  bytes: 1,
  entries: null,
  modified: hours === null ? null : now - hours * 3_600_000,
  live: false,
  recent: true,
  ...more,
});

describe('the library’s logs', () => {
  it('stand newest first, today apart from earlier', () => {
    const [today, earlier] = groupLogs([row('old', 40), row('noon', 3), row('late', 16), row('new', 1)], now);
    expect(today?.rows.map((one) => one.title)).toEqual(['new', 'noon']);
    expect(earlier?.rows.map((one) => one.title)).toEqual(['late', 'old']);
  });

  it('keep live and open ones with today, live first', () => {
    const [today] = groupLogs(
      [row('new', 1), row('open', 99, { log: 'l' }), row('live', 50, { live: true })],
      now,
    );
    expect(today?.rows.map((one) => one.title)).toEqual(['live', 'new', 'open']);
  });

  it('take logs without a time as old', () => {
    const [today, earlier] = groupLogs([row('none', null)], now);
    expect(today?.rows).toEqual([]);
    expect(earlier?.rows.length).toBe(1);
  });
});

describe('all logs', () => {
  const logs = [
    row('a', 5, { project: 'shop' }),
    row('b', 1, { project: 'docs' }),
    row('c', 2, { project: 'shop' }),
    row('d', 0),
  ];

  it('stand under their projects, the newest project first, the unknown last', () => {
    const text = byProject(logs, '', '?').map((line) =>
      'head' in line ? `${line.head} ${line.count}` : line.row.title,
    );
    expect(text).toEqual(['docs 1', 'b', 'shop 2', 'c', 'a', '? 1', 'd']);
  });

  it('are found by every word of title, project, path and agent', () => {
    const found = (query: string) =>
      byProject(logs, query, '?').flatMap((line) => ('row' in line ? [line.row.title] : []));
    expect(found('shop canonical')).toEqual(['c', 'a']);
    expect(found('CANONICAL')).toHaveLength(4);
    expect(found('nothing')).toEqual([]);
  });
});
