/** Paints the overview and the tracks on their canvases. Each track has its own shape, so that colour is never alone. */
import type { Mark, TracksQuery, TracksView } from '../../api';
import { BAR, bars, columnX, height, type Ruler, Scale } from './geometry';

export type TrackName = 'entries' | 'dialogue' | 'tools' | 'files' | 'chips' | 'memory' | 'errors' | 'marks';

export type Palette = Record<
  | 'dialogue'
  | 'tools'
  | 'files'
  | 'chips'
  | 'memory'
  | 'errors'
  | 'marks'
  | 'grid'
  | 'line'
  | 'line2'
  | 'ink'
  | 'ink2'
  | 'ink3'
  | 'sunken'
  | 'void'
  | 'playhead',
  string
> & { font: string };

const TOKENS: Record<Exclude<keyof Palette, 'font'>, string> = {
  dialogue: 't-dialogue',
  tools: 't-tools',
  files: 't-files',
  chips: 't-chips',
  memory: 't-memory',
  errors: 't-errors',
  marks: 't-marks',
  grid: 'grid',
  line: 'line',
  line2: 'line-2',
  ink: 'ink',
  ink2: 'ink-2',
  ink3: 'ink-3',
  sunken: 'sunken',
  void: 'void',
  playhead: 'playhead',
};

/** The tokens as colours that a canvas understands, for the scheme of the moment. */
export function palette(inside: HTMLElement): Palette {
  const probe = document.createElement('i');
  inside.append(probe);
  const colours = {} as Palette;
  for (const [name, token] of Object.entries(TOKENS) as [Exclude<keyof Palette, 'font'>, string][]) {
    probe.style.color = `var(--${token})`;
    colours[name] = getComputedStyle(probe).color;
  }
  colours.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  probe.remove();
  return colours;
}

/**
 * Marks with room for their sign between them; one that stands too near to the sign before it gets only a tick, so that
 * many of them read as a density and not as a wall.
 */
function* apart(
  marks: readonly Mark[],
  query: TracksQuery,
  scale: Scale,
  room: number,
): Generator<[Mark, number, boolean]> {
  let last = Number.NEGATIVE_INFINITY;
  for (const mark of marks) {
    const x = Math.round(columnX(query, scale, mark.column)) + 0.5;
    // Judged from the first mark of the answer, so that signs do not come and go while the view is panned.
    const whole = x - last >= room;
    if (whole) last = x;
    if (x < -room || x > scale.width + room) continue;
    yield [mark, x, whole];
  }
}

/** Sizes the canvas for the screen's pixels and clears it. */
export function ready(
  canvas: HTMLCanvasElement,
  width: number,
  high: number,
): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.round(width * ratio);
  const h = Math.round(high * ratio);
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const g = canvas.getContext('2d');
  if (!g) return null;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, high);
  return g;
}

/** Hatching: nothing has been read, or lived, here yet. */
export function hatch(
  g: CanvasRenderingContext2D,
  x: number,
  y: number,
  w: number,
  h: number,
  colour: string,
): void {
  if (w <= 0) return;
  g.save();
  g.beginPath();
  g.rect(x, y, w, h);
  g.clip();
  g.strokeStyle = colour;
  g.lineWidth = 1;
  g.beginPath();
  // From zero, so that the lines stand still while the edge moves.
  for (let i = Math.floor((x - h) / 6) * 6; i < x + w + 6; i += 6) {
    g.moveTo(i, y + h);
    g.lineTo(i + h, y);
  }
  g.stroke();
  g.restore();
}

export type Overview = {
  tracks: TracksView | null;
  query: TracksQuery | null;
  scale: Scale;
  high: number;
  /** Last value that there is. */
  until: number;
  colours: Palette;
};

export function drawOverview(
  canvas: HTMLCanvasElement,
  { tracks, query, scale, high, until, colours }: Overview,
): void {
  const g = ready(canvas, scale.width, high);
  if (!g || !tracks || !query) return;
  const sums = bars(tracks.entries);
  const most = Math.max(...sums, 1);
  g.fillStyle = colours.ink3;
  g.globalAlpha = 0.62;
  sums.forEach((sum, i) => {
    if (!sum) return;
    const x = columnX(query, scale, i * BAR);
    const tall = Math.max(1, Math.round(height(sum, most) * (high - 11)));
    g.fillRect(Math.round(x) + 0.5, high - 3 - tall, BAR - 1, tall);
  });
  g.globalAlpha = 1;
  g.fillStyle = colours.errors;
  const faults = tracks.errors.filter((mark) => mark.kind === 'error');
  for (const [, x, whole] of apart(faults, query, scale, 7)) {
    if (whole) triangle(g, x, 3, 3, 5);
    else g.fillRect(x - 0.5, 6, 1, 2);
  }
  g.fillStyle = colours.ink;
  for (const mark of tracks.hits) g.fillRect(Math.round(columnX(query, scale, mark.column)), high - 3, 1, 3);
  hatch(g, Math.ceil(scale.x(until)) + 1, 0, scale.width - scale.x(until), high, colours.void);
}

function triangle(g: CanvasRenderingContext2D, x: number, top: number, half: number, tall: number): void {
  g.beginPath();
  g.moveTo(x, top);
  g.lineTo(x + half, top + tall);
  g.lineTo(x - half, top + tall);
  g.fill();
}

export type Tracks = {
  tracks: TracksView | null;
  query: TracksQuery | null;
  scale: Scale;
  rows: readonly TrackName[];
  /** Heights in pixels. */
  rulerHigh: number;
  rowHigh: number;
  ruler: Ruler;
  label: (value: number) => string;
  until: number;
  colours: Palette;
};

export function drawTracks(canvas: HTMLCanvasElement, it: Tracks): void {
  const { scale, rows, rulerHigh, rowHigh, colours } = it;
  const bottom = rulerHigh + rows.length * rowHigh;
  const g = ready(canvas, scale.width, bottom);
  if (!g) return;
  grid(g, it, bottom);
  const { tracks, query } = it;
  if (tracks && query) {
    rows.forEach((row, i) => {
      g.save();
      g.beginPath();
      g.rect(0, rulerHigh + i * rowHigh, scale.width, rowHigh);
      g.clip();
      paint[row](g, {
        tracks,
        query,
        scale,
        top: rulerHigh + i * rowHigh,
        high: rowHigh,
        colours,
        until: it.until,
      });
      g.restore();
    });
    hits(g, tracks.hits, query, scale, rulerHigh, bottom, colours);
  }
  hatch(
    g,
    Math.ceil(scale.x(it.until)) + 1,
    rulerHigh,
    scale.width - scale.x(it.until),
    bottom - rulerHigh,
    colours.void,
  );
}

function grid(g: CanvasRenderingContext2D, it: Tracks, bottom: number): void {
  const { scale, rulerHigh, rowHigh, rows, colours, ruler } = it;
  g.font = colours.font;
  g.textBaseline = 'middle';
  if (it.tracks || it.until > scale.span.from) {
    for (const { x: exact, value, major } of ruler.ticks) {
      const x = Math.round(exact);
      g.fillStyle = major ? colours.line : colours.grid;
      g.fillRect(x, rulerHigh, 1, bottom - rulerHigh);
      g.fillStyle = major ? colours.ink3 : colours.line2;
      g.fillRect(x, rulerHigh - (major ? 7 : 4), 1, major ? 7 : 4);
      if (major) {
        g.fillStyle = colours.ink3;
        g.fillText(it.label(value), x + 5, 9);
      }
    }
  }
  g.fillStyle = colours.line;
  g.fillRect(0, rulerHigh - 1, scale.width, 1);
  g.fillStyle = colours.grid;
  for (let i = 1; i < rows.length; i++) g.fillRect(0, rulerHigh + i * rowHigh, scale.width, 1);
}

type Row = {
  tracks: TracksView;
  query: TracksQuery;
  scale: Scale;
  top: number;
  high: number;
  colours: Palette;
  until: number;
};

/** Bars of a dense track: `x`, width, share of the height. */
function* dense(
  columns: readonly number[],
  { query, scale }: Row,
  most?: number,
): Generator<[number, number, number, number]> {
  const sums = bars(columns);
  const top = most ?? highest(sums, query, scale);
  const pitch = scale.x(scale.span.from + ((query.to - query.from) / query.pixels) * BAR);
  for (let i = 0; i < sums.length; i++) {
    const sum = sums[i] ?? 0;
    if (sum <= 0) continue;
    const x = columnX(query, scale, i * BAR);
    if (x + pitch < 0 || x > scale.width) continue;
    yield [Math.round(x), Math.max(1, Math.round(pitch) - 1), height(sum, top), i];
  }
}

/** The highest bar in view. */
function highest(sums: readonly number[], query: TracksQuery, scale: Scale): number {
  let most = 1;
  sums.forEach((sum, i) => {
    const x = columnX(query, scale, i * BAR);
    if (x > -BAR && x < scale.width && sum > most) most = sum;
  });
  return most;
}

const paint: Record<TrackName, (g: CanvasRenderingContext2D, row: Row) => void> = {
  /** A band: entries of a log whose lines are not understood. */
  entries(g, row) {
    g.fillStyle = row.colours.ink3;
    for (const [x, w, share] of dense(row.tracks.entries, row)) {
      const tall = Math.max(2, Math.round(share * (row.high - 4)));
      g.fillRect(x, row.top + row.high - 2 - tall, w, tall);
    }
  },

  /** Bars from the base. */
  dialogue(g, row) {
    g.fillStyle = row.colours.dialogue;
    for (const [x, w, share] of dense(row.tracks.dialogue, row)) {
      const tall = Math.max(2, Math.round(share * (row.high - 5)));
      g.fillRect(x, row.top + row.high - 2 - tall, w, tall);
    }
  },

  /** A wave about the middle. */
  tools(g, row) {
    g.fillStyle = row.colours.tools;
    const middle = row.top + row.high / 2;
    for (const [x, w, share] of dense(row.tracks.tools, row)) {
      const half = Math.max(1, Math.round(share * (row.high / 2 - 2)));
      g.fillRect(x, middle - half, w, 2 * half);
    }
  },

  /** Additions above, removals below and paler; small triangles for the selected file. */
  files(g, row) {
    const middle = row.top + Math.round(row.high / 2);
    const plus = bars(row.tracks.filesPlus);
    const minus = bars(row.tracks.filesMinus);
    const most = Math.max(highest(plus, row.query, row.scale), highest(minus, row.query, row.scale));
    g.fillStyle = row.colours.files;
    for (const [x, w, share] of dense(row.tracks.filesPlus, row, most)) {
      const tall = Math.max(1, Math.round(share * (row.high / 2 - 3)));
      g.fillRect(x, middle - tall, w, tall);
    }
    g.globalAlpha = 0.5;
    for (const [x, w, share] of dense(row.tracks.filesMinus, row, most)) {
      const tall = Math.max(1, Math.round(share * (row.high / 2 - 3)));
      g.fillRect(x, middle + 1, w, tall);
    }
    g.globalAlpha = 0.35;
    g.fillRect(0, middle, Math.min(row.scale.width, row.scale.x(row.until)), 1);
    g.globalAlpha = 1;
    g.fillStyle = row.colours.marks;
    for (const [, x, whole] of apart(row.tracks.pathMarks, row.query, row.scale, 5)) {
      if (whole) triangle(g, x, row.top + row.high - 5, 3, 4);
      else g.fillRect(x - 0.5, row.top + row.high - 3, 1, 2);
    }
  },

  /** Diamonds: filled for a saved one, hollow for a failed call, a dash for an evicted one. */
  chips(g, row) {
    g.lineWidth = 1.4;
    g.fillStyle = g.strokeStyle = row.colours.chips;
    for (const [mark, x, whole] of apart(row.tracks.chips, row.query, row.scale, 10)) {
      const y = row.top + row.high / 2;
      const r = 4.5;
      if (!whole) {
        g.fillRect(x - 0.5, y - 2, 1, 4);
        continue;
      }
      if (mark.kind === 'evict') {
        g.fillRect(x - 3, y - 0.75, 6, 1.5);
        continue;
      }
      g.beginPath();
      g.moveTo(x, y - r);
      g.lineTo(x + r, y);
      g.lineTo(x, y + r);
      g.lineTo(x - r, y);
      g.closePath();
      if (mark.kind === 'save') g.fill();
      else g.stroke();
    }
  },

  /** The fill of the memory as steps under a line. */
  memory(g, row) {
    const { memory } = row.tracks;
    const base = row.top + row.high - 1;
    const room = row.high - 5;
    g.fillStyle = row.colours.memory;
    let before: number | null = null;
    for (let i = 0; i < memory.length; i++) {
      const share = Math.min(1, memory[i] ?? 0);
      const x = columnX(row.query, row.scale, i);
      const next = Math.min(columnX(row.query, row.scale, i + 1), row.scale.x(row.until));
      if (next < 0 || next <= x || x > row.scale.width) continue;
      const tall = Math.round(share * room);
      g.globalAlpha = 0.34;
      g.fillRect(x, base - tall, next - x, tall);
      g.globalAlpha = 1;
      g.fillRect(x, base - tall, next - x, 1.5);
      if (before !== null && before !== tall)
        g.fillRect(x, base - Math.max(before, tall), 1, Math.abs(before - tall) + 1);
      before = tall;
    }
  },

  /** Triangles on the base; a warning is hollow. */
  errors(g, row) {
    g.fillStyle = g.strokeStyle = row.colours.errors;
    g.lineWidth = 1.2;
    for (const [mark, x, whole] of apart(row.tracks.errors, row.query, row.scale, 11)) {
      const y = row.top + row.high / 2 + 4;
      if (!whole) {
        g.fillRect(x - 0.5, y - 3, 1, 3);
        continue;
      }
      g.beginPath();
      g.moveTo(x, y - 9);
      g.lineTo(x + 5, y);
      g.lineTo(x - 5, y);
      g.closePath();
      if (mark.kind === 'warning') g.stroke();
      else g.fill();
    }
  },

  /** Flags with their names, as far as the next one leaves room. */
  marks(g, row) {
    g.fillStyle = row.colours.marks;
    const y = row.top + row.high / 2;
    row.tracks.bookmarks.forEach((mark, i) => {
      const x = Math.round(columnX(row.query, row.scale, mark.column));
      g.fillStyle = row.colours.marks;
      g.fillRect(x, y - 6, 1, 12);
      g.beginPath();
      g.moveTo(x + 1, y - 6);
      g.lineTo(x + 8, y - 3);
      g.lineTo(x + 1, y);
      g.fill();
      const next = row.tracks.bookmarks[i + 1];
      const room = (next ? columnX(row.query, row.scale, next.column) : row.scale.width) - x - 20;
      const label = mark.count > 1 ? `${mark.kind} +${mark.count - 1}` : mark.kind;
      if (room > 24 && label) {
        g.font = row.colours.font;
        g.textBaseline = 'middle';
        g.fillStyle = row.colours.ink2;
        g.fillText(cut(g, label, Math.min(room, 240)), x + 12, y);
      }
    });
  },
};

/** Text that fits, with an ellipsis where it was cut. */
function cut(g: CanvasRenderingContext2D, text: string, room: number): string {
  if (g.measureText(text).width <= room) return text;
  const all = Array.from(text);
  let low = 0;
  let high = all.length;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (g.measureText(`${all.slice(0, mid).join('')}…`).width <= room) low = mid;
    else high = mid - 1;
  }
  return low === 0 ? '' : `${all.slice(0, low).join('')}…`;
}

/** Hits of the search: a notch in the ruler and a faint line through all tracks. */
function hits(
  g: CanvasRenderingContext2D,
  marks: readonly Mark[],
  query: TracksQuery,
  scale: Scale,
  rulerHigh: number,
  bottom: number,
  colours: Palette,
): void {
  g.fillStyle = colours.ink;
  for (const mark of marks) {
    const x = Math.round(columnX(query, scale, mark.column));
    if (x < 0 || x > scale.width) continue;
    g.globalAlpha = 0.16;
    g.fillRect(x, rulerHigh, 1, bottom - rulerHigh);
    g.globalAlpha = 1;
    g.beginPath();
    g.moveTo(x - 3, rulerHigh - 6);
    g.lineTo(x + 4, rulerHigh - 6);
    g.lineTo(x + 0.5, rulerHigh - 1);
    g.fill();
  }
}
