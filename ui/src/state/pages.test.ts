import { describe, expect, it } from 'vitest';
import { Pages } from './pages.svelte';

const settle = async () => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve, 0));
};
const source = (total: number, name: string, seen: number[]) => (offset: number, limit: number) => {
  seen.push(offset);
  return Promise.resolve({
    total,
    rows: Array.from(
      { length: Math.max(0, Math.min(limit, total - offset)) },
      (_, i) => `${name}${offset + i}`,
    ),
  });
};

describe('Pages', () => {
  it('asks only for the blocks in view', async () => {
    const seen: number[] = [];
    const pages = new Pages<string>();
    pages.ask(source(1_200_000, 'a', seen));
    await settle();
    expect(pages.total).toBe(1_200_000);
    pages.show(900_050, 900_150);
    await settle();
    expect(seen).toEqual([0, 900_000, 900_100]);
    expect(pages.row(900_149)).toBe('a900149');
    expect(pages.row(500)).toBeUndefined();
  });

  it('shows the old rows until the new ones come', async () => {
    const pages = new Pages<string>();
    pages.ask(source(10, 'a', []));
    await settle();
    let answer: (value: { total: number; rows: string[] }) => void = () => {};
    pages.ask(() => new Promise((resolve) => (answer = resolve)));
    await settle();
    expect(pages.row(3)).toBe('a3');
    answer({ total: 2, rows: ['b0', 'b1'] });
    await settle();
    expect(pages.row(0)).toBe('b0');
    expect(pages.total).toBe(2);
    expect(pages.row(3)).toBeUndefined();
  });

  it('forgets blocks that were left long ago', async () => {
    const seen: number[] = [];
    const pages = new Pages<string>();
    pages.ask(source(100_000, 'a', seen));
    for (let at = 0; at < 5000; at += 100) {
      pages.show(at, at + 50);
      await settle();
    }
    expect(pages.row(0)).toBeUndefined();
    expect(pages.row(4910)).toBe('a4910');
  });

  it('says why when the list cannot be read', async () => {
    const pages = new Pages<string>();
    pages.ask(() => Promise.reject({ code: 'io', message: 'no', hint: null }));
    await settle();
    expect(pages.fault?.message).toBe('no');
    expect(pages.known).toBe(true);
  });
});
