import { describe, expect, it } from 'vitest';
import { clampSpan, Visible, zoomShare, zoomSpan } from './visible.svelte';

const whole = { from: 1000, to: 101_000 };

describe('the visible span', () => {
  it('keeps the value at the pointer in its place', () => {
    const span = { from: 20_000, to: 60_000 };
    const at = 30_000;
    const next = zoomSpan(span, at, 0.5, whole, 50);
    expect((at - next.from) / (next.to - next.from)).toBeCloseTo((at - span.from) / (span.to - span.from), 9);
    expect(next.to - next.from).toBeCloseTo(20_000, 6);
  });

  it('never shows less than the least, nor more than the whole and a little room', () => {
    let span = { from: 20_000, to: 60_000 };
    for (let i = 0; i < 100; i++) span = zoomSpan(span, 31_415, 0.5, whole, 50);
    expect(span.to - span.from).toBeCloseTo(50, 6);
    for (let i = 0; i < 100; i++) span = zoomSpan(span, 31_415, 2, whole, 50);
    expect(span.to - span.from).toBeLessThanOrEqual(104_001);
    expect(span.from).toBeGreaterThanOrEqual(whole.from - 1001);
  });

  it('does not leave the log when panned', () => {
    const far = clampSpan({ from: 900_000, to: 910_000 }, whole, 50);
    expect(far.to).toBeLessThanOrEqual(whole.to + 4001);
    expect(far.to - far.from).toBeCloseTo(10_000, 6);
    const back = clampSpan({ from: -900_000, to: -890_000 }, whole, 50);
    expect(back.from).toBeGreaterThanOrEqual(whole.from - 1001);
  });

  it('has the whole at the slider’s left end and the least at its right', () => {
    expect(zoomShare(whole, whole, 50)).toBeCloseTo(0, 9);
    expect(zoomShare({ from: 5000, to: 5050 }, whole, 50)).toBeCloseTo(1, 9);
    const visible = new Visible();
    visible.reset(whole, 50);
    visible.zoomTo(0.5, 50_000);
    expect(visible.zoom).toBeCloseTo(0.5, 6);
  });

  it('goes on showing everything, or the end, while the log grows; else it stays', () => {
    const visible = new Visible();
    visible.reset(whole, 50);
    visible.grow({ from: 1000, to: 201_000 });
    expect(visible.all).toBe(true);
    visible.show({ from: 190_000, to: 203_000 });
    visible.grow({ from: 1000, to: 211_000 });
    expect(visible.span.to).toBeCloseTo(213_000, 3);
    visible.show({ from: 50_000, to: 60_000 });
    visible.grow({ from: 1000, to: 301_000 });
    expect(visible.span).toEqual({ from: 50_000, to: 60_000 });
  });

  it('brings a playhead that left the view back into it, and leaves one that is in view', () => {
    const visible = new Visible();
    visible.reset(whole, 50);
    visible.show({ from: 20_000, to: 30_000 });
    visible.reveal(25_000);
    expect(visible.span).toEqual({ from: 20_000, to: 30_000 });
    visible.reveal(31_000);
    expect(visible.span.from).toBeLessThan(31_000);
    expect(visible.span.to).toBeGreaterThan(31_000);
  });

  it('stands for a log of one entry, and of none', () => {
    const visible = new Visible();
    visible.reset({ from: 5, to: 5 }, 50);
    expect(visible.span.to).toBeGreaterThan(visible.span.from);
    visible.zoomAt(5, 0.5);
    expect(Number.isFinite(visible.span.from)).toBe(true);
  });
});
