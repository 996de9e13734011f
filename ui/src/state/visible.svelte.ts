/**
 * The part of the axis that the tracks show, in the axis' unit (milliseconds or positions). Zoom keeps the value at
 * the pointer where it is; nothing shows less than `least` or leaves the whole for more than the room at its ends.
 */
export type Span = { from: number; to: number };

/** Least width: 50 ms, or 4 events. */
export const LEAST = { time: 50, event: 4 } as const;
/** Free room after the last entry, as a share of the view, so that the live end can be seen. */
const ROOM = 0.04;

export function clampSpan(span: Span, whole: Span, least: number): Span {
  const size = Math.max(whole.to - whole.from, least);
  const room = size * ROOM;
  const width = Math.min(Math.max(span.to - span.from, least), size + room);
  const from = Math.min(
    Math.max(span.from, whole.from - room * 0.25),
    Math.max(whole.from, whole.to + room - width),
  );
  return { from, to: from + width };
}

export function zoomSpan(span: Span, at: number, factor: number, whole: Span, least: number): Span {
  const width = span.to - span.from;
  const next = Math.min(Math.max(width * factor, least), (whole.to - whole.from) * (1 + ROOM) || least);
  const share = width > 0 ? (at - span.from) / width : 0.5;
  return clampSpan({ from: at - share * next, to: at + (1 - share) * next }, whole, least);
}

/** The zoom as a place on a slider, 0 (the whole) to 1 (the least), logarithmic. */
export function zoomShare(span: Span, whole: Span, least: number): number {
  const size = whole.to - whole.from;
  if (size <= least) return 0;
  return Math.min(1, Math.max(0, Math.log(size / (span.to - span.from)) / Math.log(size / least)));
}

export class Visible {
  whole = $state.raw<Span>({ from: 0, to: 1 });
  span = $state.raw<Span>({ from: 0, to: 1 });
  least = $state(LEAST.event as number);

  readonly zoom = $derived(zoomShare(this.span, this.whole, this.least));
  /** The whole is shown. */
  readonly all = $derived(this.span.to - this.span.from >= (this.whole.to - this.whole.from) * 0.999);

  /** Another log, or another axis: all of it. */
  reset(whole: Span, least: number): void {
    this.least = least;
    this.whole = whole;
    this.fit();
  }

  /** The log grew: the view stays, or goes on showing all, or goes on showing the end. */
  grow(whole: Span): void {
    const all = this.all;
    const before = this.whole.to;
    const atEnd = !all && before >= this.span.from && before <= this.span.to;
    const by = whole.to - before;
    this.whole = whole;
    if (all) this.fit();
    else if (atEnd && by > 0) this.pan(by);
  }

  fit(): void {
    this.span = clampSpan(
      { from: this.whole.from, to: this.whole.to + (this.whole.to - this.whole.from) * ROOM },
      this.whole,
      this.least,
    );
  }

  show(span: Span): void {
    this.span = clampSpan(span, this.whole, this.least);
  }

  zoomAt(at: number, factor: number): void {
    this.span = zoomSpan(this.span, at, factor, this.whole, this.least);
  }

  /** What a zoom without a pointer keeps in its place: the playhead when it is in view, else the middle. */
  anchor(playhead: number): number {
    const { from, to } = this.span;
    return playhead >= from && playhead <= to ? playhead : (from + to) / 2;
  }

  /** From a slider. */
  zoomTo(share: number, at: number): void {
    const size = Math.max(this.whole.to - this.whole.from, this.least);
    const width = size * Math.pow(this.least / size, Math.min(1, Math.max(0, share)));
    this.zoomAt(at, width / (this.span.to - this.span.from));
  }

  pan(by: number): void {
    this.show({ from: this.span.from + by, to: this.span.to + by });
  }

  /** Brings a value into view, with a little room, only when it is not. */
  reveal(at: number): void {
    const width = this.span.to - this.span.from;
    if (at < this.span.from) this.show({ from: at - width * 0.1, to: at + width * 0.9 });
    else if (at > this.span.to) this.show({ from: at - width * 0.9, to: at + width * 0.1 });
  }
}

export const visible = new Visible();
