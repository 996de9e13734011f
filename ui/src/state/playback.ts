/**
 * Which entry is due at which time while the log plays. Pure: a clock and the entries' times come in. `paced` cuts long
 * waits to a second; a log without times, or an entry without one, goes at a steady four a second.
 */
export const LONGEST_WAIT = 1000;
const STEADY = 250;

export class Playback {
  /** Log milliseconds that the playhead has waited at the entry where it stands. */
  #waited = 0;
  #speed: number;
  #paced: boolean;

  constructor(speed: number, paced: boolean) {
    this.#speed = speed;
    this.#paced = paced;
  }

  set speed(speed: number) {
    this.#speed = speed;
  }

  set paced(paced: boolean) {
    this.#paced = paced;
  }

  /** Wait between two entries, in log milliseconds. A clock that ran back waits not at all. */
  wait(from: number | null, to: number | null): number {
    if (from === null || to === null) return STEADY;
    const gap = Math.max(0, to - from);
    return this.#paced ? Math.min(gap, LONGEST_WAIT) : gap;
  }

  /**
   * `elapsed` real milliseconds went by; `here` is the time of the entry at the playhead, `ahead` those of the next
   * ones. How many of them are due.
   */
  due(elapsed: number, here: number | null, ahead: readonly (number | null)[]): number {
    this.#waited += elapsed * this.#speed;
    let from = here;
    let steps = 0;
    for (const time of ahead) {
      const wait = this.wait(from, time);
      if (this.#waited < wait) break;
      this.#waited -= wait;
      from = time ?? from;
      steps++;
    }
    // Entries that are not loaded yet are not waited for twice.
    if (steps === ahead.length) this.#waited = Math.min(this.#waited, LONGEST_WAIT);
    return steps;
  }

  /** Share of the wait for the next entry that has gone by, for a playhead that glides. */
  progress(here: number | null, next: number | null): number {
    const wait = this.wait(here, next);
    return wait <= 0 ? 0 : Math.min(1, this.#waited / wait);
  }

  rest(): void {
    this.#waited = 0;
  }
}
