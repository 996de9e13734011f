/**
 * Where the rows of a long list stand, in pixels. Heights may differ by row. Browsers stop laying out at about
 * 33 million pixels, so a taller list is scrolled through a shorter track: `track` is the height of the scroll
 * area, and a scroll position in it maps to a place in the list.
 */
export const MAX_TRACK = 8_000_000;

export class RowSpace {
  readonly count: number;
  /** Height of all rows. */
  readonly height: number;
  /** Height that the scroll area gets. */
  readonly track: number;
  readonly #even: number | null;
  readonly #tops: Float64Array | null;

  /** `size`: one height for all rows, or a function of the row; a function costs one call a row. */
  constructor(count: number, size: number | ((index: number) => number)) {
    this.count = Math.max(0, Math.floor(count));
    if (typeof size === 'number') {
      this.#even = size;
      this.#tops = null;
      this.height = this.count * size;
    } else {
      this.#even = null;
      const tops = new Float64Array(this.count + 1);
      for (let i = 0; i < this.count; i++) tops[i + 1] = (tops[i] ?? 0) + size(i);
      this.#tops = tops;
      this.height = tops[this.count] ?? 0;
    }
    this.track = Math.min(this.height, MAX_TRACK);
  }

  top(index: number): number {
    const i = Math.min(this.count, Math.max(0, index));
    return this.#tops ? (this.#tops[i] ?? 0) : i * (this.#even ?? 0);
  }

  /** The row at a place in the list. */
  at(y: number): number {
    if (this.count === 0) return 0;
    const last = this.count - 1;
    if (!this.#tops) return Math.min(last, Math.max(0, Math.floor(y / (this.#even || 1))));
    let low = 0;
    let high = last;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if ((this.#tops[mid] ?? 0) <= y) low = mid;
      else high = mid - 1;
    }
    return low;
  }

  /** Scroll position → place in the list of the view's upper edge. */
  place(scroll: number, view: number): number {
    const room = this.track - view;
    if (room <= 0 || this.track === this.height) return Math.max(0, scroll);
    return (Math.min(room, Math.max(0, scroll)) / room) * (this.height - view);
  }

  /** Place in the list → scroll position that brings it to the view's upper edge. */
  scroll(place: number, view: number): number {
    const room = this.track - view;
    if (room <= 0 || this.track === this.height) return Math.max(0, place);
    return (Math.min(this.height - view, Math.max(0, place)) / (this.height - view)) * room;
  }

  /** Rows to draw, with `extra` rows before and after; `[from, to)`. */
  span(place: number, view: number, extra: number): [from: number, to: number] {
    if (this.count === 0) return [0, 0];
    return [Math.max(0, this.at(place) - extra), Math.min(this.count, this.at(place + view) + 1 + extra)];
  }
}
