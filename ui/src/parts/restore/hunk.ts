// What a hunk's button says: which lines come back, or which ones go. Pure.
import type { Hunk } from '../../api';

export interface HunkLines {
  /** Lines of the old side come back; otherwise lines of the new side are taken out. */
  back: boolean;
  /** First and last line, from 1. */
  from: number;
  to: number;
}

/** The changed lines of a hunk by their numbers: those that come back, else those that go. */
export function hunkLines(hunk: Hunk): HunkLines {
  const numbers = (kind: string) =>
    hunk.rows
      .filter((row) => row.kind === kind)
      .map((row) => (kind === 'del' ? row.oldLine : row.newLine))
      .filter((line) => line !== null);
  const gone = numbers('del');
  const own = gone.length ? gone : numbers('add');
  return {
    back: gone.length > 0,
    from: own.length ? Math.min(...own) : hunk.oldStart,
    to: own.length ? Math.max(...own) : hunk.oldStart + Math.max(0, hunk.oldLines - 1),
  };
}
