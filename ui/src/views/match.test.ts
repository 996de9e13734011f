import { describe, expect, it } from 'vitest';
import { isPosition, parts, rank, WORD } from './match';

describe('matching names', () => {
  it('prefers the beginning, then a word, then anywhere', () => {
    const at = (name: string) => rank(name, 'set') ?? -1;
    expect(at('Settings')).toBeGreaterThan(at('Open settings'));
    expect(at('Open settings')).toBeGreaterThan(at('Reset'));
    expect(at('Theme')).toBe(-1);
  });

  it('puts what begins with the typed letters, in the name or a word, above the rest', () => {
    expect(rank('Export the log', 'export') ?? 0).toBeGreaterThanOrEqual(WORD);
    expect(rank('Open settings', 'set') ?? 0).toBeGreaterThanOrEqual(WORD);
    expect(rank('Reset', 'set') ?? 0).toBeLessThan(WORD);
  });

  it('takes only what can be one for a position', () => {
    for (const one of [
      '12',
      '1,200',
      'end',
      '@1769650150744',
      '2026-01-29',
      '10:20:30',
      'toolu_01A',
      'ev-12',
    ])
      expect(isPosition(one), one).toBe(true);
    for (const one of ['v2.1.5', 'app.rs2', 'export', 'a1', 'to the 12', '2.1.5'])
      expect(isPosition(one), one).toBe(false);
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
