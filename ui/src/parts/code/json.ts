// A JSON value as rows of a foldable tree: only what is unfolded is visited, long lists come in steps.
// Leaves out: drawing, and fetching the rest of strings that were cut.

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

export interface JsonRow {
  /** JSON pointer. */
  pointer: string;
  depth: number;
  /** Member name or list index; `null` at the top. */
  key: string | null;
  kind: JsonKind | 'more';
  open: boolean;
  /** Members or elements; characters of a string; how many are left, for `more`. */
  count: number;
  /** Text of a leaf: strings with their escapes, at most one line. */
  text: string;
  /** The string itself, for strings. */
  value: string | null;
}

const STEP = 200;
const LEAF = 400;

export function kindOf(value: unknown): JsonKind {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
    case 'bigint':
      return 'number';
    case 'boolean':
      return 'boolean';
    default:
      return 'object';
  }
}

export function child(pointer: string, key: string): string {
  return pointer + '/' + key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** A string that unfolds into a block of its own: more than one line, or longer than a row holds. */
export function isBlock(value: string): boolean {
  return value.includes('\n') || value.length > 80;
}

/** Rows of what is unfolded. `shown` holds how many members of long lists are shown, by pointer. */
export function flatten(
  value: unknown,
  open: ReadonlySet<string>,
  shown: ReadonlyMap<string, number> = new Map(),
  hideRoot = true,
): JsonRow[] {
  const rows: JsonRow[] = [];
  const visit = (v: unknown, pointer: string, depth: number, key: string | null) => {
    const kind = kindOf(v);
    const isOpen = open.has(pointer);
    const root = key === null;
    const row: JsonRow = { pointer, depth, key, kind, open: isOpen, count: 0, text: '', value: null };
    if (kind === 'object' || kind === 'array') {
      const entries: [string, unknown][] =
        kind === 'array'
          ? (v as unknown[]).map((e, i): [string, unknown] => [String(i), e])
          : Object.entries(v as Record<string, unknown>);
      row.count = entries.length;
      const inside = root && hideRoot;
      if (!inside) rows.push(row);
      if (!inside && !isOpen) return;
      const limit = shown.get(pointer) ?? STEP;
      const next = inside ? depth : depth + 1;
      for (const [k, e] of entries.slice(0, limit)) visit(e, child(pointer, k), next, k);
      if (entries.length > limit) {
        rows.push({
          pointer,
          depth: next,
          key: null,
          kind: 'more',
          open: false,
          count: entries.length - limit,
          text: '',
          value: null,
        });
      }
      return;
    }
    if (kind === 'string') {
      const s = v as string;
      row.value = s;
      row.count = s.length;
      row.text = JSON.stringify(s.length > LEAF ? s.slice(0, LEAF) : s);
    } else row.text = kind === 'null' ? 'null' : String(v);
    rows.push(row);
  };
  visit(value, '', 0, null);
  return rows;
}

/** What to unfold at first: the top members that are small. */
export function firstOpen(value: unknown, budget = 24): Set<string> {
  const open = new Set<string>();
  let left = budget;
  const visit = (v: unknown, pointer: string, depth: number) => {
    const kind = kindOf(v);
    if (kind !== 'object' && kind !== 'array') return;
    const entries = Object.entries(v as object);
    if (depth > 0) {
      if (entries.length === 0 || entries.length > left || depth > 2) return;
      open.add(pointer);
    }
    left -= entries.length;
    for (const [k, e] of entries) visit(e, child(pointer, k), depth + 1);
  };
  visit(value, '', 0);
  return open;
}

export function moreStep(shown: ReadonlyMap<string, number>, pointer: string): Map<string, number> {
  const next = new Map(shown);
  next.set(pointer, (shown.get(pointer) ?? STEP) + STEP * 5);
  return next;
}
