import { beforeEach, expect, test } from 'vitest';
import { fixtureHost } from '../host/fixture';
import { lanes, player, start } from '.';

/** The made-up log with a rewind, sub-agents and a fork; what was asked of the engine. */
let asked: { type: string }[] = [];

beforeEach(async () => {
  asked = [];
  const inner = fixtureHost(new URLSearchParams('lanes=1'));
  player.eject();
  await start({
    ask: (request) => {
      asked.push(request as { type: string });
      return inner.ask(request);
    },
    listen: (hear) => inner.listen(hear),
  });
  await player.open('log-1');
  await expect.poll(() => lanes.several).toBe(true);
});

test('turns through recorded and every lane, and round', () => {
  expect(lanes.chosen).toBeNull();
  expect(lanes.only).toEqual({});
  const seen = [];
  for (let i = 0; i < 6; i++) {
    player.turnLane(1);
    seen.push(lanes.chosen);
  }
  expect(seen).toEqual([0, 1, 2, 3, 4, null]);
  player.turnLane(-1);
  expect(lanes.chosen).toBe(4);
  expect(lanes.only).toEqual({ lane: 4 });
});

test('a lane that begins later than the playhead is gone to; one that does not leaves it', () => {
  const lane = lanes.of(2);
  if (!lane) throw new Error('no lane');
  player.seek(3);
  player.enter(2);
  expect(player.at).toBe(lane.first);
  player.seek(lane.last + 5);
  player.enter(2);
  expect(player.at).toBe(lane.last + 5);
});

test('one event on is a step on the lane', async () => {
  player.seek(10);
  player.forward();
  expect(player.at).toBe(11);
  player.enter(0);
  player.back();
  await expect.poll(() => asked.some((one) => one.type === 'step')).toBe(true);
  const step = asked.find((one) => one.type === 'step');
  expect(step).toMatchObject({ by: { kind: 'event' }, forward: false, lane: 0 });
});

test('depth follows parents, and another log forgets the lane', () => {
  expect(lanes.rows.map((row) => lanes.depth(row))).toEqual([0, 1, 2, 2, 2]);
  player.enter(3);
  player.eject();
  expect(lanes.chosen).toBeNull();
  expect(lanes.several).toBe(false);
});
