// Tokens of code, line by line, and their merge with the word-level runs of a diff. The result is plain data
// that components draw as text nodes; no markup is ever made here. Leaves out: loading grammars (languages.ts).
import { highlightTree, tagHighlighter, tags as t } from '@lezer/highlight';
import type { Parser } from '@lezer/common';
import { isDataLanguage, parserFor } from './languages';
import { overlay, secretsByLine } from './secrets';

/** A coloured stretch of one line: UTF-16 offsets within the line, class name of the token. */
export interface Span {
  from: number;
  to: number;
  cls: string;
}

/** A stretch of a line, ready to draw. `mark` is a control character shown by its name. */
export interface Segment {
  text: string;
  cls: string;
  changed: boolean;
  mark: boolean;
}

/** Beyond this many UTF-16 units a text is shown without colours: parsing would cost a frame. */
export const HIGHLIGHT_LIMIT = 400_000;
/** Lines longer than this are minified or data: drawn plain. */
const LINE_LIMIT = 5_000;

const base = tagHighlighter([
  { tag: [t.keyword, t.modifier, t.operatorKeyword, t.bool, t.null, t.atom, t.self, t.unit], class: 'k' },
  {
    tag: [t.string, t.special(t.string), t.regexp, t.escape, t.character, t.attributeValue, t.url],
    class: 's',
  },
  { tag: [t.number, t.integer, t.float, t.color], class: 'd' },
  {
    tag: [
      t.function(t.variableName),
      t.function(t.definition(t.variableName)),
      t.function(t.propertyName),
      t.function(t.definition(t.propertyName)),
      t.macroName,
      t.labelName,
      t.attributeName,
      t.heading,
    ],
    class: 'f',
  },
  { tag: [t.typeName, t.className, t.namespace, t.tagName, t.definition(t.typeName)], class: 't' },
  { tag: [t.comment, t.docComment, t.meta, t.processingInstruction, t.documentMeta], class: 'c' },
  { tag: [t.inserted], class: 'ins' },
  { tag: [t.deleted], class: 'rem' },
]);

const properties = tagHighlighter([{ tag: [t.propertyName, t.definition(t.propertyName)], class: 'f' }]);

/** Tokens of each line; one empty list per line for plain text. */
export function tokenise(lines: readonly string[], parser: Parser | null, data = false): Span[][] {
  const out: Span[][] = lines.map(() => []);
  if (!parser) return out;
  let size = 0;
  for (const line of lines) {
    size += line.length + 1;
    if (line.length > LINE_LIMIT) return out;
  }
  if (size > HIGHLIGHT_LIMIT) return out;
  const starts: number[] = [];
  let at = 0;
  for (const line of lines) {
    starts.push(at);
    at += line.length + 1;
  }
  const tree = parser.parse(lines.join('\n'));
  let row = 0;
  highlightTree(tree, data ? [base, properties] : base, (from, to, classes) => {
    const cls = classes.split(' ')[0] ?? '';
    while (row + 1 < starts.length && (starts[row + 1] ?? 0) <= from) row++;
    for (let r = row; r < starts.length; r++) {
      const start = starts[r] ?? 0;
      const end = start + (lines[r]?.length ?? 0);
      if (start >= to) break;
      const a = Math.max(from, start);
      const b = Math.min(to, end);
      if (a < b) out[r]?.push({ from: a - start, to: b - start, cls });
    }
  });
  return out;
}

/** Tokens of each line of a text in a language, its grammar loaded first, and over them what looks like a key. */
export async function highlight(
  lines: readonly string[],
  language: string | null | undefined,
): Promise<Span[][]> {
  const [parser, secrets] = await Promise.all([language ? parserFor(language) : null, secretsByLine(lines)]);
  const spans = tokenise(lines, parser, language ? isDataLanguage(language) : false);
  return spans.map((line, i) => overlay(line, secrets[i] ?? []));
}

// Characters that change how other text is read or that cannot be seen: C0 and C1 except tab, soft hyphen,
// zero-width and bidirectional controls, line separators, the byte order mark, variation tags.
const HIDDEN =
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** How a hidden character is named on screen. */
export function hiddenName(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return 'U+' + code.toString(16).toUpperCase().padStart(4, '0');
}

function push(out: Segment[], text: string, cls: string, changed: boolean): void {
  let last = 0;
  for (const hit of text.matchAll(HIDDEN)) {
    if (hit.index > last) out.push({ text: text.slice(last, hit.index), cls, changed, mark: false });
    out.push({ text: hiddenName(hit[0]), cls: '', changed, mark: true });
    last = hit.index + hit[0].length;
  }
  if (last < text.length) out.push({ text: last ? text.slice(last) : text, cls, changed, mark: false });
}

/** A line's runs (word-level difference) laid over its tokens. The texts put together are the line. */
export function segments(
  runs: readonly { text: string; changed: boolean }[],
  spans: readonly Span[],
): Segment[] {
  const out: Segment[] = [];
  let at = 0;
  let next = 0;
  for (const run of runs) {
    const end = at + run.text.length;
    let from = at;
    while (from < end) {
      while (next < spans.length && (spans[next]?.to ?? 0) <= from) next++;
      const span = spans[next];
      let to = end;
      let cls = '';
      if (span && span.from <= from) {
        cls = span.cls;
        to = Math.min(end, span.to);
      } else if (span) {
        to = Math.min(end, span.from);
      }
      push(out, run.text.slice(from - at, to - at), cls, run.changed);
      from = to;
    }
    at = end;
  }
  return out;
}

/** A line without a difference. */
export function plainSegments(text: string, spans: readonly Span[]): Segment[] {
  return segments([{ text, changed: false }], spans);
}

/** Columns a line takes in a monospaced face: tabs to the next multiple of 4, wide characters two. */
export function columns(text: string): number {
  let n = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (code === 9) n += 4 - (n % 4);
    else if (code < 0x1100) n += 1;
    else n += isWide(code) ? 2 : 1;
  }
  return n;
}

function isWide(code: number): boolean {
  return (
    (code <= 0x115f && code >= 0x1100) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  );
}

/** Line breaks as such in running text; every other control character stays named. */
export function keepBreaks(part: Segment): Segment {
  if (!part.mark || (part.text !== '\u240a' && part.text !== '\u240d')) return part;
  return { ...part, mark: false, text: part.text === '\u240a' ? '\n' : '' };
}
