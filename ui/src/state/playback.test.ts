import { describe, expect, it } from 'vitest';
import { LONGEST_WAIT, Playback } from './playback';

describe('Playback', () => {
  it('goes by the recorded times at the speed', () => {
    const play = new Playback(2, false);
    expect(play.due(100, 0, [150, 400])).toBe(1);
    expect(play.due(100, 150, [400])).toBe(1);
  });

  it('waits as long as the log waited, or a second when paced', () => {
    const real = new Playback(1, false);
    expect(real.due(2000, 0, [600_000])).toBe(0);
    const paced = new Playback(1, true);
    expect(paced.wait(0, 600_000)).toBe(LONGEST_WAIT);
    expect(paced.due(999, 0, [600_000])).toBe(0);
    expect(paced.due(2, 0, [600_000])).toBe(1);
  });

  it('takes many entries in one frame', () => {
    const play = new Playback(64, false);
    const times = Array.from({ length: 100 }, (_, i) => (i + 1) * 10);
    expect(play.due(10, 0, times)).toBe(64);
  });

  it('does not wait for a clock that ran back, and goes steadily without times', () => {
    const play = new Playback(1, true);
    expect(play.due(0, 1000, [400, 400])).toBe(2);
    const blind = new Playback(1, true);
    expect(blind.due(500, null, [null, null, null])).toBe(2);
  });

  it('carries the rest of a wait over, but not over a jump', () => {
    const play = new Playback(1, true);
    expect(play.due(60, 0, [100])).toBe(0);
    expect(play.due(60, 0, [100])).toBe(1);
    expect(play.due(90, 0, [100])).toBe(1);
    play.rest();
    expect(play.due(90, 0, [100])).toBe(0);
  });
});
