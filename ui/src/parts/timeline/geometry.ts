/**
 * Places on the timeline: axis values to pixels and back, the ruler's ticks, columns of counts as bars. Pure; pixels are
 * CSS pixels, axis values are Unix milliseconds or positions.
 */
import type { Axis, Mark, TracksQuery } from '../../api';
import type { Span } from '../../state';

/** Pitch of a bar, with its gap of one pixel. */
export const BAR = 3;
/** Columns that a request may ask for. */
export const MOST_COLUMNS = 8192;

export class Scale {
  readonly span: Span;
  readonly width: number;

  constructor(span: Span, width: number) {
    this.span = span;
    this.width = Math.max(1, width);
  }

  x(value: number): number {
    return ((value - this.span.from) / (this.span.to - this.span.from)) * this.width;
  }

  value(x: number): number {
    return this.span.from + (x / this.width) * (this.span.to - this.span.from);
  }

  /** Axis units of a pixel. */
  get unit(): number {
    return (this.span.to - this.span.from) / this.width;
  }
}

/**
 * What to ask for a view: one column a pixel, with half a view of room on both sides for panning. The columns stand on a
 * grid of whole bars from zero, so that bars keep their heights while the view is panned.
 */
export function queryFor(
  axis: Axis,
  scale: Scale,
  more: { path: string | null; search: string | null },
): TracksQuery {
  const bar = scale.unit * BAR;
  const view = Math.ceil(scale.width / BAR);
  const most = Math.floor(MOST_COLUMNS / BAR);
  const room = Math.max(0, Math.min(Math.ceil(view / 2), Math.floor((most - view - 2) / 2)));
  const first = Math.floor(scale.span.from / bar) - room;
  const bars = Math.min(most, view + 2 + 2 * room);
  return { axis, from: first * bar, to: (first + bars) * bar, pixels: bars * BAR, ...more };
}

/** Whether an answer covers the view at (nearly) its zoom. */
export function covers(query: TracksQuery, axis: Axis, scale: Scale): boolean {
  const unit = (query.to - query.from) / query.pixels;
  return (
    query.axis === axis &&
    query.from <= scale.span.from + scale.unit &&
    query.to >= scale.span.to - scale.unit &&
    Math.abs(unit / scale.unit - 1) < 1e-6
  );
}

/** Sums of `BAR` columns each. */
export function bars(columns: readonly number[]): number[] {
  const out: number[] = [];
  for (let i = 0; i < columns.length; i += BAR) {
    let sum = 0;
    for (let k = i; k < i + BAR && k < columns.length; k++) sum += columns[k] ?? 0;
    out.push(sum);
  }
  return out;
}

/**
 * Height of a bar, 0..1, against the highest in view: a root, so that one burst does not flatten all the rest, and at
 * least a sign where there is anything.
 */
export function height(count: number, most: number): number {
  if (count <= 0 || most <= 0) return 0;
  return Math.max(0.12, Math.sqrt(Math.min(1, count / most)));
}

/** Where a column's left edge stands, in the view. */
export function columnX(query: TracksQuery, scale: Scale, column: number): number {
  return scale.x(query.from + ((query.to - query.from) / query.pixels) * column);
}

/**
 * Position after the last entry of the column where a value stands, from the counts that are there already: a scrub step
 * need not wait for an answer. Null outside of what was asked for.
 */
export function positionAt(
  query: TracksQuery,
  tracks: { entries: readonly number[]; lastIndex: number },
  value: number,
): number | null {
  const column = Math.floor(((value - query.from) / (query.to - query.from)) * query.pixels);
  if (!(column >= 0 && column < tracks.entries.length)) return null;
  let at = tracks.lastIndex;
  for (let i = tracks.entries.length - 1; i > column; i--) at -= tracks.entries[i] ?? 0;
  return Math.max(0, at);
}

/** The mark nearest to a pixel, not further than `reach`. */
export function markAt(
  marks: readonly Mark[],
  query: TracksQuery,
  scale: Scale,
  x: number,
  reach: number,
): Mark | null {
  let best: Mark | null = null;
  let least = reach;
  for (const mark of marks) {
    const away = Math.abs(columnX(query, scale, mark.column) + 0.5 - x);
    if (away <= least) {
      least = away;
      best = mark;
    }
  }
  return best;
}

export type Tick = { value: number; x: number; major: boolean };
export type Ruler = { ticks: Tick[]; step: number };

const S = 1000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;
/** Major step and how many minor ones are in it. */
const TIME_STEPS: readonly [step: number, minor: number][] = [
  [1, 1],
  [2, 2],
  [5, 5],
  [10, 5],
  [20, 4],
  [50, 5],
  [100, 5],
  [200, 4],
  [500, 5],
  [S, 5],
  [2 * S, 4],
  [5 * S, 5],
  [10 * S, 5],
  [15 * S, 3],
  [30 * S, 6],
  [M, 6],
  [2 * M, 4],
  [5 * M, 5],
  [10 * M, 5],
  [15 * M, 3],
  [30 * M, 6],
  [H, 6],
  [2 * H, 4],
  [3 * H, 6],
  [6 * H, 6],
  [12 * H, 6],
  [D, 4],
  [2 * D, 2],
  [7 * D, 7],
  [14 * D, 2],
  [28 * D, 4],
  [91 * D, 13],
  [364 * D, 4],
];

/** Ticks for the view; labels stand at least `apart` pixels from each other. `zone`: minutes that local time is behind UTC. */
export function ruler(axis: Axis, scale: Scale, apart: number, zone: number): Ruler {
  const least = scale.unit * apart;
  let step: number;
  let minor: number;
  if (axis === 'time') {
    [step, minor] = TIME_STEPS.find(([one]) => one >= least) ?? [Math.ceil(least / (364 * D)) * 364 * D, 4];
  } else {
    const power = Math.pow(10, Math.floor(Math.log10(Math.max(1, least))));
    const factor = [1, 2, 5, 10].find((one) => one * power >= least) ?? 10;
    step = Math.max(1, factor * power);
    minor = step === 1 ? 1 : factor === 2 ? 4 : 5;
    if (step / minor < 1) minor = step;
  }
  const shift = axis === 'time' ? zone * M : 0;
  const small = step / minor;
  const ticks: Tick[] = [];
  const first = Math.ceil((scale.span.from - shift) / small);
  const last = Math.floor((scale.span.to - shift) / small);
  for (let i = first; i <= last && ticks.length < 4000; i++) {
    const value = i * small + shift;
    ticks.push({ value, x: scale.x(value), major: ((i % minor) + minor) % minor === 0 });
  }
  return { ticks, step };
}

/** The overview's window after a drag of its left edge, its right edge or the whole of it. */
export function dragWindow(span: Span, part: 'from' | 'to' | 'all', by: number, least: number): Span {
  if (part === 'from') return { from: Math.min(span.from + by, span.to - least), to: span.to };
  if (part === 'to') return { from: span.from, to: Math.max(span.to + by, span.from + least) };
  return { from: span.from + by, to: span.to + by };
}
