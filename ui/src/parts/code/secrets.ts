// Values that look like keys, passwords or tokens, found by the engine's rules: the same that exports go by. It is
// asked when a text looks as if it could hold one. Leaves out: what is done about them (mask.svelte.ts, draw.ts).

import { request } from '../../host';

/** UTF-16 offsets. */
export interface Range {
  from: number;
  to: number;
}

/**
 * Cheap and wide: nothing that a rule could find is without a run of ten characters of a key, an address with a
 * password, or the head of a private key. Texts without any are not asked about.
 */
const CANDIDATE = /[A-Za-z0-9_\-+/=.]{10,}|:\/\/[^\s/@]*:[^\s@]*@|PRIVATE KEY/;
const MOST = 400_000;
const KEPT = 400;

export function mayHold(text: string): boolean {
  return CANDIDATE.test(text);
}

const known = new Map<string, Range[]>();

/** Texts that wait for the engine, asked about together. */
let waiting: { text: string; found: (ranges: Range[]) => void; failed: (why: unknown) => void }[] = [];

/** A question has at most so many characters. */
const TOGETHER = 2_000_000;

function scan(text: string): Promise<Range[]> {
  return new Promise((found, failed) => {
    waiting.push({ text, found, failed });
    if (waiting.length === 1) setTimeout(() => void flush(), 0);
  });
}

async function flush(): Promise<void> {
  const all = waiting;
  waiting = [];
  while (all.length) {
    const some = all.splice(0, 1);
    let size = some[0]?.text.length ?? 0;
    for (let next = all[0]; next && size + next.text.length <= TOGETHER; next = all[0]) {
      size += next.text.length;
      some.push(next);
      all.shift();
    }
    try {
      const replies = await request({ type: 'secretsIn', texts: some.map((one) => one.text) });
      some.forEach((one, i) => one.found(merge(replies[i] ?? [])));
    } catch (thrown) {
      some.forEach((one) => one.failed(thrown));
    }
  }
}

/** In order, without overlaps. */
export function merge(ranges: readonly Range[]): Range[] {
  const out: Range[] = [];
  for (const range of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = out.at(-1);
    if (last && range.from < last.to) last.to = Math.max(last.to, range.to);
    else if (range.to > range.from) out.push({ ...range });
  }
  return out;
}

/** What was found before, without waiting; `undefined`: not looked at yet. */
export function knownSecrets(text: string): Range[] | undefined {
  return mayHold(text) ? known.get(text) : [];
}

/** The secrets of a text, in order. None where the engine cannot be asked. */
export async function findSecrets(text: string): Promise<Range[]> {
  const before = knownSecrets(text);
  if (before) return before;
  if (text.length > MOST) return [];
  try {
    const found = await scan(text);
    if (known.size >= KEPT) known.delete(known.keys().next().value ?? '');
    known.set(text, found);
    return found;
  } catch {
    return [];
  }
}

/** The secrets of each line of a text that is scanned as a whole, so that a key of many lines is found. */
export async function secretsByLine(lines: readonly string[]): Promise<Range[][]> {
  const out: Range[][] = lines.map(() => []);
  const found = await findSecrets(lines.join('\n'));
  if (!found.length) return out;
  let start = 0;
  lines.forEach((line, i) => {
    const end = start + line.length;
    for (const range of found) {
      const from = Math.max(range.from, start);
      const to = Math.min(range.to, end);
      if (from < to) out[i]?.push({ from: from - start, to: to - start });
    }
    start = end + 1;
  });
  return out;
}

/** Token spans with the secrets over them. */
export function overlay<S extends Range & { cls: string }>(
  spans: readonly S[],
  secrets: readonly Range[],
): (Range & { cls: string })[] {
  if (!secrets.length) return [...spans];
  const out: (Range & { cls: string })[] = [];
  for (const span of spans) {
    let from = span.from;
    for (const secret of secrets) {
      if (secret.to <= from || secret.from >= span.to) continue;
      if (secret.from > from) out.push({ from, to: secret.from, cls: span.cls });
      from = Math.max(from, secret.to);
    }
    if (from < span.to) out.push({ from, to: span.to, cls: span.cls });
  }
  for (const secret of secrets) out.push({ ...secret, cls: SECRET });
  return out.sort((a, b) => a.from - b.from);
}

export const SECRET = 'secret';
