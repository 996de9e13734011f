/** A pointer that is pressed and dragged. */

/** Place inside an element, in CSS pixels from its left edge. */
export function pointerX(event: { clientX: number }, inside: Element): number {
  return event.clientX - inside.getBoundingClientRect().left;
}

export function clampX(x: number, width: number): number {
  return Math.min(Math.max(0, x), width);
}

/** Calls `move` until the pointer is let go, then `done`. */
export function followPointer(
  event: PointerEvent,
  move: (event: PointerEvent) => void,
  done?: () => void,
): void {
  const element = event.currentTarget as HTMLElement;
  element.setPointerCapture(event.pointerId);
  const stop = () => {
    element.removeEventListener('pointermove', move);
    element.removeEventListener('pointerup', stop);
    element.removeEventListener('pointercancel', stop);
    done?.();
  };
  element.addEventListener('pointermove', move);
  element.addEventListener('pointerup', stop);
  element.addEventListener('pointercancel', stop);
}
