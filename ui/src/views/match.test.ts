import { describe, expect, it } from 'vitest';
import { parts, rank } from './match';

describe('matching names', () => {
  it('prefers the beginning, then a word, then anywhere', () => {
    const at = (name: string) => rank(name, 'set') ?? -1;
    expect(at('Settings')).toBeGreaterThan(at('Open settings'));
    expect(at('Open settings')).toBeGreaterThan(at('Reset'));
    expect(at('Theme')).toBe(-1);
  });

  it('takes words in any order and letters in order', () => {
    expect(rank('Undo the last restore', 'restore undo')).not.toBeNull();
    expect(rank('Next bookmark', 'nxbm')).not.toBeNull();
    expect(rank('Next bookmark', 'zz')).toBeNull();
  });

  it('marks what was typed and loses nothing', () => {
    expect(parts('verify_card()', 'verify')).toEqual([
      { text: 'verify', hit: true },
      { text: '_card()', hit: false },
    ]);
    for (const name of ['把 verify_card 放回来', 'İstanbul', '', 'aaa'])
      expect(
        parts(name, 'a')
          .map((part) => part.text)
          .join(''),
      ).toBe(name);
  });
});
