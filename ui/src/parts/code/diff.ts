// The geometry of a diff: rows paired for two columns, the changes to step through, where each hunk stands and
// what of it is on screen. Pure; the drawing is Diff.svelte's.
import type { DiffRow, Hunk } from '../../api';
import { columns } from './highlight';

/** Heights in CSS pixels, as in the tokens. */
export interface Metrics {
  row: number;
  head: number;
}

/** One line of the two-column form; `null` is a void: no line here. */
export interface Pair {
  left: DiffRow | null;
  right: DiffRow | null;
}

/** A run of changed lines within a hunk, in lines of the form shown. */
export interface Change {
  hunk: number;
  from: number;
  to: number;
  added: number;
  removed: number;
  /** Pixels from the top of the whole diff. */
  top: number;
  height: number;
}

export interface HunkBox {
  top: number;
  height: number;
  lines: number;
}

export interface Layout {
  split: boolean;
  boxes: HunkBox[];
  changes: Change[];
  height: number;
  /** Widest line, in columns. */
  columns: number;
  /** Digits of the largest line number. */
  digits: number;
  pairs: Pair[][];
}

/** Deleted lines beside the added ones that replace them; the shorter side is filled with voids. */
export function pairRows(rows: readonly DiffRow[]): Pair[] {
  const out: Pair[] = [];
  let dels: DiffRow[] = [];
  let adds: DiffRow[] = [];
  const flush = () => {
    for (let i = 0; i < Math.max(dels.length, adds.length); i++) {
      out.push({ left: dels[i] ?? null, right: adds[i] ?? null });
    }
    dels = [];
    adds = [];
  };
  for (const row of rows) {
    if (row.kind === 'del') {
      // A deletion after an addition begins a new block.
      if (adds.length) flush();
      dels.push(row);
    } else if (row.kind === 'add') adds.push(row);
    else {
      flush();
      out.push({ left: row, right: row });
    }
  }
  flush();
  return out;
}

function changedLines(rows: readonly DiffRow[]): { added: number; removed: number }[] {
  return rows.map((r) => ({ added: r.kind === 'add' ? 1 : 0, removed: r.kind === 'del' ? 1 : 0 }));
}

function changedPairs(pairs: readonly Pair[]): { added: number; removed: number }[] {
  return pairs.map((p) => ({
    added: p.right?.kind === 'add' ? 1 : 0,
    removed: p.left?.kind === 'del' ? 1 : 0,
  }));
}

export function layout(hunks: readonly Hunk[], split: boolean, m: Metrics): Layout {
  const boxes: HunkBox[] = [];
  const changes: Change[] = [];
  const pairs: Pair[][] = [];
  let top = 0;
  let wide = 0;
  let largest = 1;
  hunks.forEach((hunk, h) => {
    const paired = split ? pairRows(hunk.rows) : [];
    pairs.push(paired);
    const lines = split ? changedPairs(paired) : changedLines(hunk.rows);
    const height = m.head + lines.length * m.row;
    boxes.push({ top, height, lines: lines.length });
    let open: Change | null = null;
    lines.forEach((line, i) => {
      if (line.added + line.removed === 0) {
        open = null;
        return;
      }
      if (!open) {
        open = {
          hunk: h,
          from: i,
          to: i + 1,
          added: 0,
          removed: 0,
          top: top + m.head + i * m.row,
          height: 0,
        };
        changes.push(open);
      }
      open.to = i + 1;
      open.added += line.added;
      open.removed += line.removed;
      open.height = (open.to - open.from) * m.row;
    });
    for (const row of hunk.rows) {
      let text = '';
      for (const run of row.runs) text += run.text;
      wide = Math.max(wide, columns(text));
      largest = Math.max(largest, row.oldLine ?? 0, row.newLine ?? 0);
    }
    top += height;
  });
  return { split, boxes, changes, height: top, columns: wide, digits: String(largest).length, pairs };
}

/** Lines of a hunk that are on screen, with a margin: first and one past the last. */
export function visible(
  box: HunkBox,
  m: Metrics,
  scroll: number,
  view: number,
  margin = 12,
): [number, number] {
  const start = box.top + m.head;
  const first = Math.floor((scroll - start) / m.row) - margin;
  const last = Math.ceil((scroll + view - start) / m.row) + margin;
  const from = Math.min(Math.max(first, 0), box.lines);
  return [from, Math.max(from, Math.min(last, box.lines))];
}

/** The change that a scroll position shows: the last one that begins at or above the reading line, else the first. */
export function changeAt(changes: readonly Change[], scroll: number, head: number): number {
  let at = 0;
  changes.forEach((change, i) => {
    if (change.top - head * 2 <= scroll) at = i;
  });
  return at;
}

/** Where to scroll so that a change stands below its sticky header with a line of context above. */
export function scrollFor(change: Change, m: Metrics): number {
  return Math.max(0, change.top - m.head - m.row);
}

/** A mark of the strip of all changes: shares of the whole, 0..1. */
export interface Mark {
  top: number;
  height: number;
  del: boolean;
}

/** Marks of all changes over a height; many changes are put together, a few hundred marks are enough for any screen. */
export function marks(plan: Layout, view: number, most = 300): Mark[] {
  const whole = Math.max(plan.height, view, 1);
  const out: Mark[] = [];
  if (plan.changes.length <= most) {
    for (const change of plan.changes) {
      const lines = change.added + change.removed;
      const top = change.top / whole;
      const tall = Math.max(change.height / whole, 0.004);
      const del = (tall * change.removed) / lines;
      if (change.removed) out.push({ top, height: del, del: true });
      if (change.added) out.push({ top: top + del, height: tall - del, del: false });
    }
    return out;
  }
  const sums = Array.from({ length: most }, () => ({ added: 0, removed: 0 }));
  for (const change of plan.changes) {
    const at = Math.min(most - 1, Math.floor((change.top / whole) * most));
    const sum = sums[at];
    if (!sum) continue;
    sum.added += change.added;
    sum.removed += change.removed;
  }
  sums.forEach((sum, i) => {
    if (sum.added + sum.removed > 0)
      out.push({ top: i / most, height: 1 / most, del: sum.removed > sum.added });
  });
  return out;
}

/** A hunk's position as people read it: `−24,5 +24,4`. */
export function hunkPlace(hunk: Hunk): string {
  return `\u2212${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines}`;
}

/** Lines of one side in order, to be highlighted as one text, and the place of each row in them. */
export function sideLines(
  hunks: readonly Hunk[],
  side: 'old' | 'new',
): { lines: string[]; at: Map<DiffRow, number> } {
  const lines: string[] = [];
  const at = new Map<DiffRow, number>();
  const skip = side === 'old' ? 'add' : 'del';
  for (const hunk of hunks) {
    for (const row of hunk.rows) {
      if (row.kind === skip) continue;
      at.set(row, lines.length);
      lines.push(row.runs.map((r) => r.text).join(''));
    }
    // A blank line between hunks: a construct left open by one is not closed by the next one's quote.
    lines.push('');
  }
  return { lines, at };
}
