/**
 * The log on the deck and the playhead over it: seek, step, play, follow, points A and B, bookmarks, breakpoints.
 * Knows nothing of the screen; what the tracks show is `visible`, what is chosen is `selection`.
 */
import type { Axis, Bookmark, LogView, Progress, StepBy, Stop } from '../api';
import { Refused, request } from '../host';
import { words } from '../i18n';
import { lanes } from './lanes.svelte';
import { Latest } from './latest.svelte';
import { Playback } from './playback';
import { LOG_TABS, selection } from './selection.svelte';
import { toasts } from './toasts.svelte';
import { LEAST, visible, type Span } from './visible.svelte';

export const SPEEDS = [0.5, 1, 2, 4, 8, 16, 32, 64] as const;
const AHEAD = 200;
const GLANCE_MS = 400;

/** Where playing stops by itself. */
export type Stops = {
  bookmarks: boolean;
  errors: boolean;
  /** First entry that touches the selected file. */
  firstTouch: boolean;
  /** First entry that touches any file for the first time. */
  anyTouch: boolean;
  /** An entry with a finding of at least this severity; null: none. */
  finding: 'error' | 'warning' | 'info' | null;
  /** In the filter language of the search; empty: none. */
  filter: string;
};

export class Player {
  log = $state.raw<LogView | null>(null);
  progress = $state.raw<Progress | null>(null);
  /** A log that is being opened is hidden behind its progress until a person asks to see what is there. */
  peek = $state(false);
  /** A person wants positions on the axis, though there are times. */
  byEvent = $state(false);
  /** Position, 0..count. */
  at = $state(0);
  playing = $state(false);
  speed = $state(1);
  paced = $state(true);
  follow = $state(true);
  a = $state<number | null>(null);
  b = $state<number | null>(null);
  bookmarks = $state.raw<Bookmark[]>([]);
  stops = $state.raw<Stops>({
    bookmarks: true,
    errors: false,
    firstTouch: false,
    anyTouch: false,
    finding: null,
    filter: '',
  });
  /** The search whose hits are marked; `search` keeps it. */
  search = $state<string | null>(null);

  readonly #moment = new Latest<'moment'>();
  #seeks = 0;
  #landing: number | null = null;
  #frame: number | null = null;
  #extent: Span | null = null;
  #looking = false;
  #looked = 0;

  readonly id = $derived(this.log?.log ?? null);
  readonly count = $derived(this.log?.count ?? 0);
  readonly opening = $derived(this.log?.phase === 'opening');
  readonly failed = $derived(this.log?.phase === 'failed');
  /** There is something to look at. */
  readonly ready = $derived(this.log !== null && !this.failed && (!this.opening || this.peek));
  /** Times, unless the log has none that differ. */
  readonly axis: Axis = $derived.by(() => {
    const log = this.log;
    if (this.byEvent || !log || log.firstTime === null || log.lastTime === null) return 'event';
    return log.lastTime > log.firstTime ? 'time' : 'event';
  });
  readonly atEnd = $derived(this.at >= this.count);

  /** What the engine says about the playhead; of the position before until the new one is there. */
  get moment() {
    return this.#moment.value;
  }

  /** Where the playhead stands on the axis; that of the position before until the new one is known. */
  get place(): number {
    if (this.axis === 'event') return this.at;
    const moment = this.#moment.value;
    if (this.at === 0 || !moment || moment.at === 0) return this.log?.firstTime ?? 0;
    return moment.axisTime ?? this.log?.lastTime ?? 0;
  }

  /** The moment is that of `at`. */
  get settled(): boolean {
    return this.#moment.value?.at === this.at && !this.#moment.busy;
  }

  // --- which log

  /** Puts a log on the deck, the playhead at its end. */
  async open(log: string): Promise<void> {
    if (this.id === log) {
      if (!LOG_TABS.includes(selection.tab)) selection.tab = this.log?.foreign ? 'entries' : 'files';
      this.#arrive();
      return;
    }
    try {
      const view = await request({ type: 'log', log });
      this.#put(view);
    } catch (thrown) {
      toasts.fault(Refused.from(thrown));
    }
  }

  /** The next log that is opened has its playhead after this entry, as soon as that is read. */
  land(index: number | null): void {
    this.#landing = index;
  }

  #arrive(): void {
    const to = this.#landing;
    if (to === null || !this.log) return;
    if (this.log.phase === 'opening' && this.count < to) return;
    this.#landing = null;
    this.seek(to);
  }

  /** Takes the log off the deck. */
  eject(): void {
    this.pause();
    this.log = null;
    this.progress = null;
    this.#moment.clear();
    this.bookmarks = [];
    this.search = null;
    lanes.follow(null);
    selection.choosePath(null);
    if (LOG_TABS.includes(selection.tab)) selection.tab = 'chips';
  }

  #put(view: LogView): void {
    this.pause();
    this.#extent = null;
    this.log = view;
    this.progress = view.progress;
    this.peek = false;
    this.at = view.count;
    this.follow = true;
    this.a = this.b = null;
    this.search = null;
    this.bookmarks = [];
    this.#moment.clear();
    selection.choosePath(null);
    selection.against = { kind: 'previous' };
    // Lines of no known format have no files to show.
    if (view.foreign) selection.tab = 'entries';
    else if (!LOG_TABS.includes(selection.tab)) selection.tab = 'files';
    visible.reset(this.#whole(view), LEAST[this.axis]);
    void this.#loadBookmarks();
    lanes.follow(view);
    this.look();
    this.#arrive();
  }

  /** The engine's newest view of a log. */
  hear(view: LogView): void {
    const before = this.log;
    if (!before || before.log !== view.log) return;
    const wasEnd = this.at >= before.count;
    const axis = this.axis;
    this.log = view;
    this.progress = view.progress;
    if (view.count < this.at) this.at = view.count;
    else if (view.count > this.at && wasEnd && (this.follow || this.opening)) this.at = view.count;
    if (axis !== this.axis || before.count === 0) visible.reset(this.#whole(view), LEAST[this.axis]);
    else visible.grow(this.#whole(view));
    if (before.phase === 'opening' && view.phase === 'ready') void this.#loadBookmarks();
    lanes.follow(view);
    this.look();
    this.#arrive();
  }

  /** How far the reading is; what was read until now is looked at every so often, so that the tracks fill. */
  hearProgress(log: string, progress: Progress): void {
    if (this.id !== log) return;
    this.progress = progress;
    const now = Date.now();
    if (this.#looking || now - this.#looked < GLANCE_MS) return;
    this.#looking = true;
    this.#looked = now;
    void request({ type: 'log', log })
      .then((view) => this.hear(view))
      .catch(() => {
        // The next notice tells what became of it.
      })
      .finally(() => (this.#looking = false));
  }

  /** Where the axis begins and ends, as the engine's tracks have it: its clock never runs back. */
  setExtent(axis: Axis, from: number, to: number): void {
    if (axis !== this.axis || !this.log || this.opening || !(to > from)) return;
    const { whole } = visible;
    this.#extent = { from, to };
    if (whole.from !== from || whole.to !== to) visible.grow({ from, to });
  }

  /** All of the axis; of a log that is still being read, about as long as the part read so far tells. */
  #whole(view: LogView): Span {
    const extent = this.axis === 'time' ? this.#extent : null;
    const from = this.axis === 'time' ? (extent?.from ?? view.firstTime ?? 0) : 0;
    const to = this.axis === 'time' ? Math.max(extent?.to ?? 0, view.lastTime ?? 1) : Math.max(1, view.count);
    const { readBytes = 0, totalBytes = 0 } = view.progress ?? {};
    if (view.phase !== 'opening' || totalBytes <= 0 || readBytes < totalBytes * 0.01) return { from, to };
    const guess = from + ((to - from) * totalBytes) / readBytes;
    // A guess that is near the one before is not worth moving everything for.
    const before = visible.whole;
    const size = before.to - before.from;
    const near = before.from === from && before.to >= to && Math.abs(guess - before.to) < size * 0.15;
    return near ? before : { from, to: Math.max(to, guess) };
  }

  /** Asks for the moment at the playhead again, as after a change of the selected file. */
  look(): void {
    const log = this.id;
    if (log === null) return;
    this.#moment.ask({ type: 'moment', log, at: this.at, path: selection.path });
  }

  // --- moving

  /** To a position; scrubbing back leaves the live end, reaching the end joins it. */
  seek(at: number): void {
    const to = Math.min(this.count, Math.max(0, Math.round(at)));
    this.#seeks++;
    this.follow = to >= this.count;
    if (to === this.at) return;
    this.at = to;
    this.look();
    const log = this.log;
    if (log && this.axis === 'event') visible.reveal(to);
  }

  first = () => this.#move(0);
  last = () => this.#move(this.count);
  back = () => this.#one(false);
  forward = () => this.#one(true);

  /** One event, on the lane that is followed. */
  #one(forward: boolean): void {
    if (lanes.chosen === null) this.#move(this.at + (forward ? 1 : -1));
    else void this.step({ kind: 'event' }, forward);
  }

  /** Follows a lane, or all; a playhead that stands before its first entry goes there. */
  enter(lane: number | null): void {
    lanes.choose(lane);
    const row = lanes.of(lane);
    if (row && this.at < row.first) this.#move(row.first);
    // Looked for anew while playing.
    this.#seeks++;
  }

  turnLane(by: 1 | -1): void {
    lanes.turn(by);
    this.enter(lanes.chosen);
  }

  #move(to: number): void {
    this.pause();
    this.seek(to);
  }

  /** Next or previous of a kind; says so when there is none, unless `quiet`. Returns whether it moved. */
  async step(by: StepBy, forward: boolean, quiet = false): Promise<boolean> {
    const log = this.id;
    if (log === null) return false;
    this.pause();
    const seeks = this.#seeks;
    try {
      const index = await request({ type: 'step', log, from: this.at, by, forward, ...lanes.only });
      if (this.#seeks !== seeks || this.id !== log) return false;
      if (index === null) {
        if (!quiet) toasts.say('info', forward ? words.noneAhead : words.noneBehind);
        return false;
      }
      this.seek(index);
      return true;
    } catch (thrown) {
      toasts.fault(Refused.from(thrown));
      return false;
    }
  }

  /** To what the command line takes for a position: `end`, a number, `@ms`, an ISO time, an event id. */
  async goTo(text: string): Promise<boolean> {
    const log = this.id;
    if (log === null) return false;
    try {
      const located = await request({ type: 'locate', log, target: { kind: 'text', text } });
      this.#move(located.index);
      return true;
    } catch (thrown) {
      toasts.fault(Refused.from(thrown));
      return false;
    }
  }

  /** Times or positions on the axis; all of it is shown. */
  toggleAxis(): void {
    const log = this.log;
    if (!log) return;
    this.byEvent = !this.byEvent;
    visible.reset(this.#whole(log), LEAST[this.axis]);
  }

  /** The log has times that an axis can be made of. */
  get timed(): boolean {
    const log = this.log;
    return log !== null && log.firstTime !== null && log.lastTime !== null && log.lastTime > log.firstTime;
  }

  toggleFollow(): void {
    if (this.follow) this.follow = false;
    else this.last();
  }

  // --- playing

  toggle(): void {
    if (this.playing) this.pause();
    else void this.play();
  }

  async play(): Promise<void> {
    const log = this.id;
    if (log === null || this.playing || this.count === 0) return;
    if (this.atEnd || (lanes.row && this.at >= lanes.row.last)) this.seek(0);
    this.playing = true;
    const playback = new Playback(this.speed, this.paced);
    let rows: { index: number; timestamp: number | null }[] = [];
    /** There are entries behind those that are loaded; entries when they were. */
    let more = true;
    let known = 0;
    let stop: { index: number; why: string } | null = null;
    let seeks = -1;
    let last = performance.now();
    let expected = this.at;

    const fill = async (): Promise<void> => {
      const offset = Math.max(0, this.at - 1);
      const on = lanes.only.lane === undefined ? {} : { ...lanes.only, after: offset };
      const page = await request({ type: 'entries', log, offset, limit: AHEAD, ...on });
      rows = page.rows;
      more = page.offset + page.rows.length < page.total;
      known = this.count;
    };
    const next = () => rows.filter((row) => row.index > this.at);
    const alive = () => this.playing && this.id === log;

    while (alive()) {
      try {
        if (seeks !== this.#seeks || this.at !== expected) {
          seeks = this.#seeks;
          expected = this.at;
          playback.rest();
          stop = await this.#nextStop(log);
          await fill();
          last = performance.now();
        } else if ((more || this.count > known) && next().length <= 1) {
          await fill();
        }
      } catch (thrown) {
        toasts.fault(Refused.from(thrown));
        break;
      }
      const now = await this.#tick();
      if (!alive()) return;
      if (seeks !== this.#seeks) continue;
      playback.speed = this.speed;
      playback.paced = this.paced;
      const coming = next();
      const here = (rows.findLast((row) => row.index <= this.at) ?? rows[0])?.timestamp ?? null;
      const due = playback.due(
        Math.min(250, now - last),
        here,
        coming.map((row) => row.timestamp),
      );
      let to = coming[due - 1]?.index ?? this.at;
      last = now;
      const reached: { index: number; why: string } | null =
        stop !== null && to >= stop.index && this.at < stop.index ? stop : null;
      const stopped = reached !== null;
      if (reached) {
        to = reached.index;
        toasts.say('info', reached.why);
      }
      if (to !== this.at) {
        this.at = Math.min(to, this.count);
        expected = this.at;
        this.follow = this.at >= this.count;
        this.look();
      }
      // The lane may end before the log does.
      if (stopped || this.at >= this.count || (!more && this.count === known && next().length === 0)) break;
    }
    this.playing = false;
  }

  pause(): void {
    this.playing = false;
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
  }

  #tick(): Promise<number> {
    return new Promise((resolve) => {
      this.#frame = requestAnimationFrame((now) => resolve(now));
      // A hidden window gets no frames.
      setTimeout(() => resolve(performance.now()), 250);
    });
  }

  /** The nearest entry ahead where playing stops, and why there; null: only at the end. */
  async #nextStop(log: string): Promise<{ index: number; why: string } | null> {
    const { bookmarks, errors, firstTouch, anyTouch, finding, filter } = this.stops;
    const path = selection.path;
    const kinds: { by: StepBy; why: string }[] = [];
    if (bookmarks) kinds.push({ by: { kind: 'bookmark' }, why: words.stoppedAtBookmark });
    if (errors) kinds.push({ by: { kind: 'error' }, why: words.stoppedAtError });
    if (filter.trim() !== '') kinds.push({ by: { kind: 'filter', filter }, why: words.stoppedAtFilter });
    const stops: { stop: Stop; why: string }[] = [];
    if (firstTouch && path !== null)
      stops.push({ stop: { kind: 'firstTouch', path }, why: words.stoppedAtTouch });
    if (anyTouch) stops.push({ stop: { kind: 'firstTouch', path: null }, why: words.stoppedAtTouch });
    if (finding !== null)
      stops.push({ stop: { kind: 'finding', severity: finding }, why: words.stoppedAtFinding });
    // Steps follow the lane; stops are those of the whole log.
    const found = await Promise.all(
      kinds.map(async ({ by, why }) => {
        const step = { type: 'step', log, from: this.at, by, forward: true, ...lanes.only } as const;
        return { index: await request(step), why };
      }),
    );
    if (stops.length > 0) {
      const asked = stops.map((one) => one.stop);
      const hit = await request({ type: 'nextStop', log, from: this.at, stops: asked, forward: true });
      if (hit) found.push({ index: hit.index, why: stops[hit.stops[0] ?? 0]?.why ?? '' });
    }
    let nearest: { index: number; why: string } | null = null;
    for (const { index, why } of found)
      if (index !== null && index > this.at && (!nearest || index < nearest.index)) nearest = { index, why };
    return nearest;
  }

  setSpeed(speed: number): void {
    this.speed = speed;
  }

  faster(): void {
    this.speed = SPEEDS.find((speed) => speed > this.speed) ?? this.speed;
  }

  slower(): void {
    this.speed = SPEEDS.findLast((speed) => speed < this.speed) ?? this.speed;
  }

  setStops(stops: Partial<Stops>): void {
    this.stops = { ...this.stops, ...stops };
    // Looked for anew while playing.
    this.#seeks++;
  }

  // --- points and bookmarks

  setA(at: number | null = this.at): void {
    this.a = at;
  }

  setB(at: number | null = this.at): void {
    this.b = at;
    if (selection.against.kind === 'position') {
      selection.against = at === null ? { kind: 'previous' } : { kind: 'position', at };
    }
  }

  /** The bookmark at the playhead. */
  readonly bookmark = $derived(this.bookmarks.find((mark) => mark.index === this.at) ?? null);

  /** Sets one at the playhead, or takes it away. */
  async toggleBookmark(label = ''): Promise<void> {
    await this.setBookmark(this.at, this.bookmark ? null : label);
  }

  async setBookmark(index: number, label: string | null): Promise<void> {
    const log = this.id;
    if (log === null || index < 1) return;
    try {
      this.bookmarks = await request({ type: 'setBookmark', log, index, label });
      this.#seeks++;
    } catch (thrown) {
      toasts.fault(Refused.from(thrown));
    }
  }

  async #loadBookmarks(): Promise<void> {
    const log = this.id;
    if (log === null) return;
    try {
      const bookmarks = await request({ type: 'bookmarks', log });
      if (this.id === log) this.bookmarks = bookmarks;
    } catch {
      // A log that is still being read may have none yet; asked again when it is ready.
    }
  }
}

export const player = new Player();
