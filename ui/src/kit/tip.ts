/** Where a hint is drawn, and whether it says more than what is seen. */

type Box = { left: number; top: number; right: number; bottom: number; width: number; height: number };
const GAP = 6;

/**
 * Above what it belongs to, or below where there is no room; beside it for rows of lists, whose neighbours stand above
 * and below: at the right, else at the left. Within the window.
 */
export function place(
  of: Box,
  tip: { width: number; height: number },
  wide: number,
  high: number,
  beside = of.height <= 60 && of.width >= 120,
): { left: number; top: number } {
  const within = (at: number, size: number, all: number) => Math.max(GAP, Math.min(at, all - size - GAP));
  const middle = within(of.top + (of.height - tip.height) / 2, tip.height, high);
  if (beside && of.right + GAP + tip.width + GAP <= wide) return { left: of.right + GAP, top: middle };
  if (beside && of.left - GAP - tip.width >= GAP) return { left: of.left - GAP - tip.width, top: middle };
  const left = within(of.left + (of.width - tip.width) / 2, tip.width, wide);
  const above = of.top - GAP - tip.height;
  return { left, top: above >= GAP ? above : within(of.bottom + GAP, tip.height, high) };
}

/** Not worth showing: the same words stand there and are not cut. */
export function worth(of: Element, title: string): boolean {
  const flat = (text: string) => text.replace(/\s+/gu, ' ').trim();
  if (!flat(of.textContent).includes(flat(title))) return true;
  return [of, ...of.querySelectorAll('*')].some(
    (one) => one instanceof HTMLElement && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0,
  );
}
