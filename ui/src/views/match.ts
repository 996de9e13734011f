/** How well a name answers what was typed, and which letters of it to show as the match. */

/** From here on the name, or a word of it, begins with what was typed. */
export const WORD = 700;

/** Higher is better; null: no match. Words may be typed in any order; a run of letters in order is the least match. */
export function rank(name: string, query: string): number | null {
  const q = query.trim().toLowerCase();
  if (q === '') return 0;
  const n = name.toLowerCase();
  const place = n.indexOf(q);
  if (place === 0) return 1000 - n.length;
  if (place > 0) return (/\W/u.test(n[place - 1] ?? '') ? 800 : 600) - n.length;
  const words = q.split(/\s+/u);
  if (words.length > 1 && words.every((word) => n.includes(word))) return 400 - n.length;
  if (q.length < 2) return null;
  let from = 0;
  let gaps = 0;
  for (const letter of q) {
    if (letter === ' ') continue;
    const at = n.indexOf(letter, from);
    if (at < 0) return null;
    gaps += at - from;
    from = at + 1;
  }
  return gaps > q.length * 3 ? null : 100 - gaps;
}

/** A number, `end`, a time, or what has the look of an entry's id: letters and digits without dots, `v2.1.5` is none. */
export function isPosition(text: string): boolean {
  return /^(?:\d[\d,]*|end|@\d+|\d{4}-\d\d(?:-\d\d.*)?|\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?|(?=[\w:-]*\d)(?=[\w:-]*[a-z_:-])[\w:-]{4,})$/iu.test(
    text,
  );
}

export type Part = { text: string; hit: boolean };

/** The name in parts, those that were typed marked. */
export function parts(name: string, query: string): Part[] {
  const wanted = query.toLowerCase().split(/\s+/u).filter(Boolean);
  if (wanted.length === 0) return [{ text: name, hit: false }];
  const lower = name.toLowerCase();
  // Lower case may be longer than the name in a few scripts; then nothing is marked.
  if (lower.length !== name.length) return [{ text: name, hit: false }];
  const hit = new Array<boolean>(name.length).fill(false);
  for (const word of wanted) {
    for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + word.length))
      hit.fill(true, at, at + word.length);
  }
  const out: Part[] = [];
  let from = 0;
  for (let i = 1; i <= name.length; i++) {
    if (i === name.length || hit[i] !== hit[from]) {
      out.push({ text: name.slice(from, i), hit: hit[from] ?? false });
      from = i;
    }
  }
  return out;
}
