import { afterEach, describe, expect, it } from 'vitest';
import { dictionaries, format, language, words } from '.';

// Every part's dictionary, so that none is left out.
import.meta.glob('../**/words.ts', { eager: true });
import.meta.glob('../**/words.svelte.ts', { eager: true });

const say = (word: unknown) =>
  typeof word === 'function'
    ? String((word as (...values: unknown[]) => string)('1', '2', '3'))
    : String(word);

describe('dictionaries', () => {
  afterEach(() => language.choose('en'));

  it('have every word in both languages', () => {
    expect(dictionaries.length).toBeGreaterThan(1);
    for (const { en, zh } of dictionaries) {
      expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
      for (const [key, word] of Object.entries(en)) {
        expect(typeof zh[key], key).toBe(typeof word);
        expect(say(word).trim().length, key).toBeGreaterThan(0);
        expect(say(zh[key]).trim().length, key).toBeGreaterThan(0);
      }
    }
  });

  it('put every value into both languages', () => {
    for (const { en, zh } of dictionaries)
      for (const [key, word] of Object.entries(en)) {
        if (typeof word !== 'function') continue;
        const values = ['⟦1⟧', '⟦2⟧', '⟦3⟧'].slice(0, word.length);
        const [one, other] = [word, zh[key]].map((make) =>
          String((make as (...all: string[]) => string)(...values)),
        );
        for (const value of values)
          expect(other?.includes(value), `${key}: ${other}`).toBe(one?.includes(value));
      }
  });

  it('are switched live', () => {
    language.choose('en');
    expect(words.settings).toBe('Settings');
    language.choose('zh-CN');
    expect(words.settings).toBe('设置');
    expect(document.documentElement.lang).toBe('zh-Hans');
  });

  it('follow the system when told so', () => {
    language.choose('system', ['fr-FR', 'zh-TW', 'en']);
    expect(language.tongue).toBe('zh-CN');
    language.choose('system', ['fr-FR']);
    expect(language.tongue).toBe('en');
  });
});

describe('numbers and times', () => {
  afterEach(() => language.choose('en'));

  it('are short where they are long', () => {
    language.choose('en');
    expect(format.count(1_204_331)).toBe('1,204,331');
    expect(format.compact(12_406)).toBe('12,406');
    expect(format.compact(1_204_331)).toBe('1.2 M');
    expect(format.compact(628_440)).toBe('628 k');
    language.choose('zh-CN');
    expect(format.compact(1_204_331)).toBe('120.4 万');
  });

  it('give sizes in powers of a thousand', () => {
    expect(format.bytes(388)).toBe('388 B');
    expect(format.bytes(4812)).toBe('4.8 kB');
    expect(format.bytes(18_200_000)).toBe('18 MB');
    expect(format.bytes(999_999)).toBe('1.0 MB');
  });

  it('give lengths in two units', () => {
    language.choose('en');
    expect(format.span(38)).toBe('38 ms');
    expect(format.span(480_000)).toBe('8 min 00 s');
    expect(format.span(84 * 60_000)).toBe('1 h 24 min');
    expect(format.span(-5)).toBe('0 ms');
  });
});
