import { describe, expect, it } from 'vitest';
import type { SnapshotWorkspace } from '../../api';
import { nearest, snapshotItems } from './items';

const space = (workspace: string, root: string | null, times: number[]): SnapshotWorkspace => ({
  workspace,
  root,
  rows: times.map((createdAt, i) => ({
    snapshot: `${workspace}-${i}`,
    id: String(i),
    tool: 'be-delete',
    file: 'a',
    summary: '',
    createdAt,
    added: 0,
    removed: 1,
  })),
  damaged: [],
  orderUnknown: false,
});

describe('the list of edit snapshots', () => {
  it('has opened workspaces first, then the newest', () => {
    const items = snapshotItems([
      space('old', null, [5]),
      space('new', null, [9, 8]),
      space('own', '~/x', [1]),
    ]);
    expect(items.map((item) => (item.kind === 'row' ? item.row.snapshot : item.workspace.workspace))).toEqual(
      ['own', 'own-0', 'new', 'new-0', 'new-1', 'old', 'old-0'],
    );
  });

  it('is walked over without stopping at headings', () => {
    const items = snapshotItems([space('a', null, [2]), space('b', null, [1])]);
    expect(nearest(items, 2, 1)).toBe(3);
    expect(nearest(items, 2, -1)).toBe(1);
    expect(nearest(items, 0, -1)).toBeNull();
  });
});
