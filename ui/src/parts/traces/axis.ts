/** Bars of a waterfall: where a span of time stands on an axis, in hundredths of its width. */

export type Axis = { start: number; end: number };
export type Bar = { left: number; width: number; point: boolean };

/** A bar is never narrower than this, so that a short call is seen too. */
const LEAST = 0.4;

const share = (axis: Axis, at: number) => {
  const long = axis.end - axis.start;
  return long <= 0 ? 0 : Math.min(1, Math.max(0, (at - axis.start) / long));
};

/** Null: the event has no time, or the axis has none. */
export function barOf(axis: Axis | null, start: number | null, duration: number | null): Bar | null {
  if (axis === null || start === null) return null;
  const left = share(axis, start) * 100;
  if (duration === null || duration <= 0) return { left: Math.min(left, 100 - LEAST), width: 0, point: true };
  const width = Math.max(LEAST, share(axis, start + duration) * 100 - left);
  return { left: Math.min(left, 100 - width), width, point: false };
}

/** Round marks on the axis, as milliseconds after its start; the start itself is the first. */
export function ticks(axis: Axis | null, most = 3): number[] {
  if (axis === null || axis.end <= axis.start) return [0];
  const long = axis.end - axis.start;
  const rough = long / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((one) => one >= rough) ?? 10 * power;
  const out: number[] = [];
  // One right at the end would have no place for its words.
  for (let at = 0; at <= long * 0.8; at += step) out.push(at);
  return out;
}
