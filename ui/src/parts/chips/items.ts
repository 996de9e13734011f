// The chip list as items: a heading before the queue, one before the archive, the chips between. Pure.
import type { ChipRow, ChipTarget } from '../../api';

export type Item = { kind: 'queue' } | { kind: 'archive' } | { kind: 'chip'; index: number };

export interface Items {
  count: number;
  at(item: number): Item;
  /** The item of a chip's index. */
  of(index: number): number;
}

/** `boundary`: index of the first evicted chip, `total` where none was met yet. */
export function items(total: number, boundary: number): Items {
  const edge = Math.min(boundary, total);
  const hasQueue = edge > 0 ? 1 : 0;
  const hasArchive = edge < total ? 1 : 0;
  return {
    count: total + hasQueue + hasArchive,
    at(item) {
      if (hasQueue && item === 0) return { kind: 'queue' };
      const index = item - hasQueue;
      if (hasArchive && index === edge) return { kind: 'archive' };
      return { kind: 'chip', index: index > edge && hasArchive ? index - 1 : index };
    },
    of: (index) => index + hasQueue + (index >= edge ? hasArchive : 0),
  };
}

/** Where the archive begins in rows that are known from the start on. */
export function boundary(row: (index: number) => ChipRow | undefined, total: number): number {
  for (let index = 0; index < total; index++) {
    const one = row(index);
    if (!one) return total;
    if (one.state === 'evicted') return index;
  }
  return total;
}

/** A chip's height in the list: a third line for an error or a reason. */
export function chipHeight(row: ChipRow | undefined): number {
  return row && row.summary && (row.errMsg || row.reason || row.state === 'writing') ? 68 : 48;
}

/** `payment_service.py:30` */
export function targetName(target: ChipTarget): string {
  const name = target.path.slice(Math.max(target.path.lastIndexOf('/'), target.path.lastIndexOf('\\')) + 1);
  return target.line === null ? name : `${name}:${target.line}`;
}

/** The same place, whatever was found out about it. */
export function samePlace(a: ChipTarget | null, b: ChipTarget | null): boolean {
  return a?.path === b?.path && a?.line === b?.line;
}
