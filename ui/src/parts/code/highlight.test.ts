import { describe, expect, it } from 'vitest';
import { columns, hiddenName, highlight, plainSegments, segments, tokenise } from './highlight';
import { knownLanguages, parserFor } from './languages';

const texts = (parts: { text: string }[]) => parts.map((p) => p.text);

describe('tokens', () => {
  it('are found line by line, also across a string of several lines', async () => {
    const lines = ['def a():', '    """one', '    two"""', '    return 12  # end'];
    const spans = await highlight(lines, 'python');
    expect(spans[0]?.[0]).toEqual({ from: 0, to: 3, cls: 'k' });
    expect(spans[1]).toEqual([{ from: 4, to: 10, cls: 's' }]);
    expect(spans[2]).toEqual([{ from: 0, to: 10, cls: 's' }]);
    expect(spans[3]).toEqual([
      { from: 4, to: 10, cls: 'k' },
      { from: 11, to: 13, cls: 'd' },
      { from: 15, to: 20, cls: 'c' },
    ]);
  });

  it('are none for an unknown language, a name from Object.prototype and plain text', async () => {
    for (const language of ['klingon', 'constructor', '__proto__', null]) {
      expect(await highlight(['if x'], language)).toEqual([[]]);
    }
  });

  it('never fail on broken code', async () => {
    const spans = await highlight(['}}}} "never closed', '\u0000\ud800 <b>'], 'typescript');
    expect(spans).toHaveLength(2);
  });

  it('are left out for lines that are too long to parse', async () => {
    const parser = await parserFor('json');
    expect(tokenise(['"' + 'x'.repeat(6000) + '"'], parser)).toEqual([[]]);
  });

  it('have a grammar behind every name', async () => {
    for (const name of knownLanguages()) expect(await parserFor(name), name).not.toBeNull();
  });

  it('colour shell, TOML and property names of JSON', async () => {
    expect((await highlight(['if true; then echo "a"; fi'], 'sh'))[0]?.map((s) => s.cls)).toContain('k');
    expect((await highlight(['a = "b" # c'], 'toml'))[0]?.map((s) => s.cls)).toContain('c');
    expect((await highlight(['{"a": 1}'], 'json'))[0]).toEqual([
      { from: 1, to: 4, cls: 'f' },
      { from: 6, to: 7, cls: 'd' },
    ]);
  });
});

describe('segments', () => {
  it('lay word runs over tokens without losing a character', () => {
    const runs = [
      { text: 'let ab', changed: false },
      { text: 'c = 1', changed: true },
      { text: '2;', changed: false },
    ];
    const spans = [
      { from: 0, to: 3, cls: 'k' },
      { from: 4, to: 7, cls: 'f' },
      { from: 10, to: 12, cls: 'd' },
    ];
    const out = segments(runs, spans);
    expect(texts(out).join('')).toBe('let abc = 12;');
    expect(out).toEqual([
      { text: 'let', cls: 'k', changed: false, mark: false },
      { text: ' ', cls: '', changed: false, mark: false },
      { text: 'ab', cls: 'f', changed: false, mark: false },
      { text: 'c', cls: 'f', changed: true, mark: false },
      { text: ' = ', cls: '', changed: true, mark: false },
      { text: '1', cls: 'd', changed: true, mark: false },
      { text: '2', cls: 'd', changed: false, mark: false },
      { text: ';', cls: '', changed: false, mark: false },
    ]);
  });

  it('hold for empty lines and runs', () => {
    expect(segments([], [])).toEqual([]);
    expect(segments([{ text: '', changed: true }], [{ from: 0, to: 4, cls: 'k' }])).toEqual([]);
  });

  it('leave markup as text', () => {
    expect(texts(plainSegments('<img src=x onerror=alert(1)>', []))).toEqual([
      '<img src=x onerror=alert(1)>',
    ]);
  });

  it('show characters that hide or turn text', () => {
    const out = plainSegments('if (a\u202e) \u0007x\ufeff', []);
    expect(out.filter((s) => s.mark).map((s) => s.text)).toEqual(['U+202E', '\u2407', 'U+FEFF']);
    expect(hiddenName('\u{e0041}')).toBe('U+E0041');
    expect(plainSegments('a\tb', [])).toHaveLength(1);
  });
});

describe('columns', () => {
  it('count tabs and wide characters', () => {
    expect(columns('abc')).toBe(3);
    expect(columns('\ta\tb')).toBe(9);
    expect(columns('卡号')).toBe(4);
    expect(columns('🎉')).toBe(2);
  });
});
