import { beforeEach, describe, expect, it } from 'vitest';
import type { Host } from '../host';
import { useHost } from '../host';
import { Latest } from './latest.svelte';

/** A host whose answers are given by hand. */
function manual() {
  const asked: {
    request: { type: string; at?: number };
    answer: (value: unknown) => void;
    refuse: (why: unknown) => void;
  }[] = [];
  const host: Host = {
    ask: (request) =>
      new Promise((resolve, reject) => {
        asked.push({ request: request as never, answer: resolve as never, refuse: reject });
      }),
    listen: () => () => {},
  };
  return { host, asked };
}

const moment = (at: number) => ({ type: 'moment' as const, log: 'l', at, path: null });
const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

describe('Latest', () => {
  let asked: ReturnType<typeof manual>['asked'];
  beforeEach(() => {
    const made = manual();
    asked = made.asked;
    useHost(made.host);
  });

  it('keeps one request out and drops the questions between', async () => {
    const latest = new Latest<'moment'>();
    for (let at = 1; at <= 50; at++) latest.ask(moment(at));
    await settle();
    expect(asked.map((one) => one.request.at)).toEqual([1]);
    asked[0]?.answer({ at: 1 });
    await settle();
    expect(asked.map((one) => one.request.at)).toEqual([1, 50]);
    expect(latest.value?.at).toBe(1);
    asked[1]?.answer({ at: 50 });
    await settle();
    expect(latest.value?.at).toBe(50);
    expect(latest.answered?.at).toBe(50);
    expect(latest.busy).toBe(false);
  });

  it('keeps the old answer when the next one is refused, and says why', async () => {
    const latest = new Latest<'moment'>();
    latest.ask(moment(1));
    await settle();
    asked[0]?.answer({ at: 1 });
    await settle();
    latest.ask(moment(2));
    await settle();
    asked[1]?.refuse({ code: 'io', message: 'gone', hint: null });
    await settle();
    expect(latest.value?.at).toBe(1);
    expect(latest.fault?.code).toBe('io');
    latest.ask(moment(3));
    await settle();
    asked[2]?.answer({ at: 3 });
    await settle();
    expect(latest.fault).toBeNull();
  });

  it('says nothing about a request that was cancelled', async () => {
    const latest = new Latest<'moment'>();
    latest.ask(moment(1));
    await settle();
    asked[0]?.refuse({ code: 'cancelled', message: '', hint: null });
    await settle();
    expect(latest.fault).toBeNull();
  });

  it('does not take an answer that comes after clear', async () => {
    const latest = new Latest<'moment'>();
    latest.ask(moment(1));
    await settle();
    latest.clear();
    asked[0]?.answer({ at: 1 });
    await settle();
    expect(latest.value).toBeNull();
  });
});
