import { render } from '@testing-library/svelte';
import { tick } from 'svelte';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Carries, Replies, RequestType } from '../../api';
import { useHost } from '../../host';
import { secretsIn } from '../../host/fixture/secrets';
import Code from './Code.svelte';
import { cover } from './draw';
import { highlight, plainSegments } from './highlight';
import JsonTree from './JsonTree.svelte';
import { mask } from './mask.svelte';
import { findSecrets, mayHold, merge, overlay, secretsByLine } from './secrets';

// Put together here, so that nobody's scanner takes them for real ones.
const TOKEN = ['gh', 'p_', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('');
const PEM = [
  ['-----BEGIN RSA PRIVATE', ' KEY-----'].join(''),
  ...Array.from({ length: 12 }, (_, i) => 'MIIEowIBAAKCAQEA'.repeat(3) + String(i).padStart(16, 'x')),
  ['-----END RSA PRIVATE', ' KEY-----'].join(''),
];
const until = async (get: () => unknown) => {
  for (let i = 0; i < 300; i++) {
    if (get()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
    await tick();
  }
  throw new Error(`never came: ${String(get)}`);
};

let asked = 0;
beforeEach(() => {
  mask.on = true;
  useHost({
    ask: <T extends RequestType>(request: { type: T } & Carries<T>) => {
      asked++;
      const { texts } = request as unknown as { texts: string[] };
      return Promise.resolve(secretsIn(texts) as Replies[T]);
    },
    listen: () => () => {},
  });
});

describe('secrets', () => {
  it('are found by the rules, and nothing is in plain words', async () => {
    const text = `export T=${TOKEN}\nx = 1`;
    const [found] = await findSecrets(text);
    expect(text.slice(found?.from, found?.to)).toContain(TOKEN.slice(4));
    expect(await findSecrets('def refund(self, receipt): return self.ledger.record_refund(receipt)')).toEqual(
      [],
    );
    expect(mayHold('a short line')).toBe(false);
  });

  it('are asked about together, and once', async () => {
    const before = asked;
    const texts = [`one ${TOKEN}`, `two ${TOKEN}`, 'three of sixteen_characters'];
    const found = await Promise.all(texts.map(findSecrets));
    expect(found.map((ranges) => ranges.length)).toEqual([1, 1, 0]);
    await findSecrets(texts[0] ?? '');
    expect(asked).toBe(before + 1);
  });

  it('of many lines are found in each', async () => {
    const lines = ['a', ...PEM, 'b'];
    const byLine = await secretsByLine(lines);
    expect(byLine[0]).toEqual([]);
    expect(byLine.at(-1)).toEqual([]);
    expect(byLine[3]?.[0]).toEqual({ from: 0, to: lines[3]?.length });
  });

  it('lie over token colours and cut segments', async () => {
    expect(
      overlay(
        [
          { from: 0, to: 4, cls: 'k' },
          { from: 6, to: 20, cls: 's' },
        ],
        [{ from: 8, to: 12 }],
      ),
    ).toEqual([
      { from: 0, to: 4, cls: 'k' },
      { from: 6, to: 8, cls: 's' },
      { from: 8, to: 12, cls: 'secret' },
      { from: 12, to: 20, cls: 's' },
    ]);
    expect(
      cover(plainSegments('abcdef', []), [{ from: 2, to: 4 }]).map((part) => [part.text, part.cls]),
    ).toEqual([
      ['ab', ''],
      ['cd', 'secret'],
      ['ef', ''],
    ]);
    expect(
      merge([
        { from: 5, to: 9 },
        { from: 1, to: 6 },
      ]),
    ).toEqual([{ from: 1, to: 9 }]);
    const [spans] = await highlight([`token = "${TOKEN}"`], 'python');
    expect(spans?.some((span) => span.cls === 'secret')).toBe(true);
  });

  it('are not on screen before they are asked for', async () => {
    const text = `token = "${TOKEN}"`;
    const { container } = render(Code, { count: 1, get: () => text, language: 'python', version: 1 });
    const code = () => container.querySelector('code');
    // Until it is looked through, the line is veiled.
    expect(code()?.classList.contains('veiled')).toBe(true);
    await until(() => container.querySelector('.secret') && !code()?.classList.contains('veiled'));
    expect(container.textContent).not.toContain(TOKEN);
    container.querySelector<HTMLButtonElement>('button.secret')?.click();
    await until(() => container.textContent?.includes(TOKEN));
    container.querySelector<HTMLButtonElement>('button.secret')?.click();
    await until(() => !container.textContent?.includes(TOKEN));
  });

  it('are masked in a payload, and shown by pressing the row', async () => {
    const { container } = render(JsonTree, { value: { token: TOKEN, other: 'x' }, label: 'x' });
    await until(() => container.querySelector('.secret'));
    expect(container.textContent).not.toContain(TOKEN);
    container.querySelector<HTMLButtonElement>('[data-pointer="/token"]')?.click();
    await until(() => container.textContent?.includes(TOKEN));
  });
});
