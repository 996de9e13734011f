import { describe, expect, it } from 'vitest';
import { child, firstOpen, flatten, isBlock, moreStep } from './json';

const value = {
  tool: 'be-write',
  args: { file: 'a/b~c', edits: [{ line: 3 }, { line: 9 }] },
  none: null,
  ok: true,
};

describe('the rows of a JSON value', () => {
  it('are the members of the top, folded', () => {
    expect(flatten(value, new Set()).map((r) => [r.key, r.kind, r.count || r.text])).toEqual([
      ['tool', 'string', 8],
      ['args', 'object', 2],
      ['none', 'null', 'null'],
      ['ok', 'boolean', 'true'],
    ]);
  });

  it('unfold by pointer', () => {
    const rows = flatten(value, new Set(['/args', '/args/edits', '/args/edits/1']));
    expect(rows.map((r) => '.'.repeat(r.depth) + (r.key ?? ''))).toEqual([
      'tool',
      'args',
      '.file',
      '.edits',
      '..0',
      '..1',
      '...line',
      'none',
      'ok',
    ]);
  });

  it('come in steps for long lists', () => {
    const long = { list: Array.from({ length: 1500 }, (_, i) => i) };
    const open = new Set(['/list']);
    const rows = flatten(long, open);
    expect(rows).toHaveLength(202);
    expect(rows[201]).toMatchObject({ kind: 'more', count: 1300, pointer: '/list' });
    expect(flatten(long, open, moreStep(new Map(), '/list'))).toHaveLength(1202);
  });

  it('hold for a bare value at the top, hostile names and long strings', () => {
    expect(flatten('x', new Set())).toHaveLength(1);
    expect(flatten(JSON.parse('{"__proto__":{"a":1}}'), new Set(['/__proto__'])).map((r) => r.key)).toEqual([
      '__proto__',
      'a',
    ]);
    expect(child('', 'a/b~c')).toBe('/a~1b~0c');
    expect(flatten({ s: 'y'.repeat(9000) }, new Set())[0]?.text.length).toBeLessThan(500);
    expect(isBlock('a\nb')).toBe(true);
    expect(isBlock('short')).toBe(false);
  });

  it('are unfolded at first where that is little', () => {
    expect([...firstOpen(value)]).toEqual(
      ['/args', '/args/edits', '/args/edits/0', '/args/edits/1'].slice(0, 2),
    );
    expect([...firstOpen({ list: Array.from({ length: 99 }, () => 0) })]).toEqual([]);
  });
});
