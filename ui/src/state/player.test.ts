import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Notice, Stop } from '../api';
import { request, useHost, type Host } from '../host';
import { fixtureHost } from '../host/fixture';
import { Player, player, selection, start, toasts } from '.';

const wait = (ms = 60) => new Promise((resolve) => setTimeout(resolve, ms));

/** The fixture, with a way to tell notices and to see what was asked. */
function host(): { host: Host; tell: (notice: Notice) => void; asked: { type: string; at?: number }[] } {
  const inner = fixtureHost(new URLSearchParams());
  const asked: { type: string; at?: number }[] = [];
  let hear: (notice: Notice) => void = () => {};
  return {
    asked,
    tell: (notice) => hear(notice),
    host: {
      ask: (request) => {
        asked.push(request as { type: string });
        return inner.ask(request);
      },
      listen: (one) => {
        hear = one;
        return inner.listen(one);
      },
    },
  };
}

describe('the player', () => {
  let made: ReturnType<typeof host>;
  beforeEach(async () => {
    made = host();
    await start(made.host);
    await wait();
  });
  afterEach(() => {
    player.eject();
    toasts.list = [];
  });

  it('puts the log on the deck with the playhead at its end', () => {
    expect(player.id).toBe('log-1');
    expect(player.at).toBe(player.count);
    expect(player.follow).toBe(true);
    expect(selection.tab).toBe('files');
    expect(player.axis).toBe('time');
  });

  it('leaves the live end by scrubbing back and joins it again', async () => {
    player.seek(100);
    expect(player.follow).toBe(false);
    const log = player.log;
    if (!log) throw new Error('no log');
    made.tell({ type: 'log', view: { ...log, count: log.count + 5 } });
    expect(player.at).toBe(100);
    player.last();
    expect(player.follow).toBe(true);
    made.tell({ type: 'log', view: { ...log, count: log.count + 9 } });
    expect(player.at).toBe(log.count + 9);
  });

  it('stays where it is when the log gets shorter than the playhead only as far as it must', () => {
    const log = player.log;
    if (!log) throw new Error('no log');
    player.seek(500);
    made.tell({ type: 'log', view: { ...log, count: 300, changed: 'truncated' } });
    expect(player.at).toBe(300);
  });

  it('asks for one moment at a time while scrubbing', async () => {
    made.asked.length = 0;
    for (let at = 1000; at < 1100; at++) player.seek(at);
    await wait();
    const moments = made.asked.filter((one) => one.type === 'moment');
    expect(moments.length).toBeLessThanOrEqual(3);
    expect(moments.at(-1)?.at).toBe(1099);
    expect(player.moment?.at).toBe(1099);
  });

  it('does not leave the log', () => {
    player.seek(-5);
    expect(player.at).toBe(0);
    player.seek(1e9);
    expect(player.at).toBe(player.count);
  });

  it('steps to errors, tool calls, bookmarks and changes of a file', async () => {
    player.seek(0);
    expect(await player.step({ kind: 'error' }, true)).toBe(true);
    const error = player.at;
    expect(player.moment === null || error > 0).toBe(true);
    expect(await player.step({ kind: 'error' }, false)).toBe(false);
    expect(player.at).toBe(error);
    expect(await player.step({ kind: 'bookmark' }, true)).toBe(true);
    expect(player.bookmarks.some((mark) => mark.index === player.at)).toBe(true);
  });

  it('sets a bookmark and takes it away', async () => {
    player.seek(777);
    await player.toggleBookmark('here');
    expect(player.bookmark?.label).toBe('here');
    await player.toggleBookmark();
    expect(player.bookmark).toBeNull();
  });

  it('goes to what the command line takes for a position, and says so when there is none', async () => {
    expect(await player.goTo('1234')).toBe(true);
    expect(player.at).toBe(1234);
    expect(await player.goTo('e-77')).toBe(true);
    expect(player.at).toBe(77);
    expect(await player.goTo('nowhere')).toBe(false);
    expect(toasts.list.at(-1)?.level).toBe('error');
  });

  it('plays on, stops at a bookmark, and a seek while playing is obeyed', async () => {
    const mark = player.bookmarks[0];
    if (!mark) throw new Error('no bookmark');
    player.seek(mark.index - 3);
    player.setSpeed(64);
    await player.play();
    expect(player.at).toBe(mark.index);
    expect(player.playing).toBe(false);
  });

  it('stops at what a filter matches, at an error and at the first touch of a file', async () => {
    player.setSpeed(64);
    player.setStops({ bookmarks: false, errors: true });
    player.seek(0);
    await player.step({ kind: 'error' }, true);
    const error = player.at;
    player.seek(error - 4);
    await player.play();
    expect(player.at).toBe(error);
    player.setStops({ errors: false, filter: 'type:tool.result is:error' });
    player.seek(error - 2);
    await player.play();
    expect(player.at).toBe(error);
    player.setStops({ bookmarks: true, errors: false, filter: '' });
  });

  it('stops at a finding of at least the chosen severity, and at the first touch of any file, and says so', async () => {
    player.setSpeed(64);
    const log = player.id ?? '';
    const next = (stop: Stop) =>
      request({ type: 'nextStop', log, from: 100, stops: [stop], forward: true }).then((hit) => hit?.index);
    const stops = { bookmarks: false, errors: false, firstTouch: false, filter: '' };
    const error = (await next({ kind: 'finding', severity: 'error' })) ?? 0;
    const touch = (await next({ kind: 'firstTouch', path: null })) ?? 0;
    expect(error).toBeGreaterThan(100);
    expect(touch).toBeGreaterThan(100);
    for (const [at, wanted, says] of [
      [error, { finding: 'error', anyTouch: false }, 'Stopped at a finding'],
      [touch, { finding: null, anyTouch: true }, 'Stopped at the first touch of a file'],
    ] as const) {
      player.setStops({ ...stops, ...wanted });
      player.seek(at - 3);
      await player.play();
      expect(player.at).toBe(at);
      expect(player.playing).toBe(false);
      expect(toasts.list.at(-1)?.text).toBe(says);
    }
    player.setStops({ bookmarks: true, finding: null, anyTouch: false });
  });

  it('pauses when something steps', async () => {
    player.seek(10);
    player.setSpeed(0.5);
    const done = player.play();
    await wait(30);
    expect(player.playing).toBe(true);
    player.back();
    expect(player.playing).toBe(false);
    await done;
  });

  it('uses the event axis for a log without times', () => {
    const one = new Player();
    const log = player.log;
    if (!log) throw new Error('no log');
    one.log = { ...log, firstTime: null, lastTime: null };
    expect(one.axis).toBe('event');
    one.log = { ...log, firstTime: 5, lastTime: 5 };
    expect(one.axis).toBe('event');
  });
});

describe('toasts', () => {
  it('keep one with Undo longest, one at a time, and let all go', () => {
    vi.useFakeTimers();
    toasts.list = [];
    toasts.say('ok', 'Restored a.py', { undo: 'r1' });
    toasts.say('info', 'Copied');
    vi.advanceTimersByTime(20_000);
    expect(toasts.list.map((one) => one.undo)).toEqual(['r1']);
    toasts.say('ok', 'Restored b.py', { undo: 'r2' });
    expect(toasts.list.map((one) => one.undo)).toEqual(['r2']);
    vi.advanceTimersByTime(31_000);
    expect(toasts.list).toEqual([]);
    vi.useRealTimers();
  });
});

describe('without a host', () => {
  it('refuses in a sentence', async () => {
    useHost({
      ask: () => Promise.reject({ code: 'host-only', message: 'Only the desktop can.', hint: null }),
      listen: () => () => {},
    });
    const one = new Player();
    await one.open('x');
    expect(toasts.list.at(-1)?.text).toBe('Only the desktop can.');
  });
});
