import { describe, expect, it } from 'vitest';
import { pieces } from './text';

describe('the pieces of a message', () => {
  it('set fenced code apart', () => {
    expect(pieces('a\n```py\nx = 1\n\ny\n```\nb')).toEqual([
      { code: false, text: 'a' },
      { code: true, text: 'x = 1\n\ny' },
      { code: false, text: 'b' },
    ]);
  });

  it('keep an open fence as code to the end, and other fences within', () => {
    expect(pieces('~~~\n```\nx')).toEqual([{ code: true, text: '```\nx' }]);
    expect(pieces('````\n```\nx\n````')).toEqual([{ code: true, text: '```\nx' }]);
  });

  it('leave markup as text', () => {
    expect(pieces('<script>alert(1)</script>')).toEqual([{ code: false, text: '<script>alert(1)</script>' }]);
    expect(pieces('')).toEqual([]);
  });
});
