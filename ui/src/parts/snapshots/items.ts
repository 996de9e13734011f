// Edit snapshots of all workspaces as one list with a heading for each. Pure.
import type { SnapshotRow, SnapshotWorkspace } from '../../api';

export type Item = { kind: 'workspace'; workspace: SnapshotWorkspace } | { kind: 'row'; row: SnapshotRow };

/** Opened workspaces first, then by their newest snapshot. */
export function snapshotItems(workspaces: readonly SnapshotWorkspace[]): Item[] {
  const newest = (w: SnapshotWorkspace) => w.rows[0]?.createdAt ?? 0;
  const sorted = [...workspaces].sort(
    (a, b) => Number(b.root !== null) - Number(a.root !== null) || newest(b) - newest(a),
  );
  return sorted.flatMap((workspace): Item[] => [
    { kind: 'workspace', workspace },
    ...workspace.rows.map((row): Item => ({ kind: 'row', row })),
  ]);
}

/** The nearest snapshot at or beyond an item, in a direction; `null` when there is none. */
export function nearest(items: readonly Item[], from: number, by: 1 | -1): number | null {
  for (let i = from; i >= 0 && i < items.length; i += by) if (items[i]?.kind === 'row') return i;
  return null;
}
