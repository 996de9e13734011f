import { describe, expect, it } from 'vitest';
import { place, worth } from './tip';

const box = (left: number, top: number, width: number, height: number) => ({
  left,
  top,
  width,
  height,
  right: left + width,
  bottom: top + height,
});

describe('hints', () => {
  const tip = { width: 200, height: 40 };
  const crosses = (at: { left: number; top: number }, of: ReturnType<typeof box>) =>
    at.left < of.right && at.left + 200 > of.left && at.top < of.bottom && at.top + 40 > of.top;

  it('never lie on what they belong to, and stay in the window', () => {
    for (const of of [
      box(0, 200, 232, 42),
      box(600, 300, 28, 28),
      box(1250, 4, 28, 28),
      box(1100, 700, 170, 28),
      box(0, 770, 28, 28),
    ]) {
      const at = place(of, tip, 1280, 800);
      expect(crosses(at, of)).toBe(false);
      expect(at.left).toBeGreaterThanOrEqual(0);
      expect(at.top).toBeGreaterThanOrEqual(0);
      expect(at.left + 200).toBeLessThanOrEqual(1280);
      expect(at.top + 40).toBeLessThanOrEqual(800);
    }
  });

  it('stand beside a row, not on the rows above and below', () => {
    const of = box(0, 200, 232, 42);
    expect(crosses(place(of, tip, 1280, 800), box(0, 158, 232, 42))).toBe(false);
    expect(crosses(place(of, tip, 1280, 800), box(0, 242, 232, 42))).toBe(false);
  });

  it('are left out where the same words can be read', () => {
    const node = document.createElement('span');
    node.textContent = 'src/ app.rs';
    expect(worth(node, 'app.rs')).toBe(false);
    expect(worth(node, 'src/lib.rs')).toBe(true);
  });
});
