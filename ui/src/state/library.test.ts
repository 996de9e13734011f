import { describe, expect, it } from 'vitest';
import type { SourceRow } from '../api';
import { groupLogs } from './library.svelte';

const now = new Date(2026, 4, 10, 15, 0).getTime();
const row = (title: string, hours: number | null, more: Partial<SourceRow> = {}): SourceRow => ({
  source: title,
  log: null,
  title,
  path: title,
  project: null,
  cwd: null,
  format: 'canonical',
  bytes: 1,
  entries: null,
  modified: hours === null ? null : now - hours * 3_600_000,
  live: false,
  recent: true,
  looked: true,
  archived: false,
  started: null,
  ended: null,
  counts: null,
  parts: 0,
  ...more,
});

describe('the library’s logs', () => {
  const titles = (logs: SourceRow[]) =>
    Object.fromEntries(groupLogs(logs, now).map((group) => [group.day, group.rows.map((one) => one.title)]));

  it('stand newest first, by day', () => {
    const logs = [row('old', 40), row('older', 70), row('noon', 3), row('late', 16), row('new', 1)];
    expect(titles(logs)).toEqual({
      open: [],
      today: ['new', 'noon'],
      yesterday: ['late'],
      earlier: ['old', 'older'],
    });
  });

  it('keep open ones apart, live ones first of today', () => {
    const logs = [row('new', 1), row('open', 99, { log: 'l' }), row('live', 50, { live: true })];
    expect(titles(logs)).toMatchObject({ open: ['open'], today: ['live', 'new'] });
  });

  it('take logs without a time as old', () => {
    expect(titles([row('none', null)])).toEqual({ open: [], today: [], yesterday: [], earlier: ['none'] });
  });

  it('go by the end of the session, not by the time of a copied file', () => {
    const old = row('copied', 0, { ended: now - 99 * 3_600_000 });
    expect(titles([old, row('file only', 1)])).toMatchObject({ today: ['file only'], earlier: ['copied'] });
  });
});
