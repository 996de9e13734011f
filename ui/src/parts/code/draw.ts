// Draws a line of code into an element: text nodes and class names only, never markup. Imperative because a
// window of code is some thousand stretches and is redrawn at each scrub step. What looks like a key is masked.
import type { Attachment } from 'svelte/attachments';
import { plainSegments, type Segment } from './highlight';
import { mask } from './mask.svelte';
import { findSecrets, knownSecrets, SECRET, type Range } from './secrets';
import { words } from './words';

/** How masked values are drawn: as buttons, or plain where the row around them is one. */
export type Masking = 'button' | 'plain';

/** A masked value, to be asked for by mouse, keys and ear. */
function masked(part: Segment, hidden: boolean, how: Masking): Node {
  if (how === 'plain') {
    const span = document.createElement('span');
    span.className = hidden ? 'secret' : 'secret secret--shown';
    span.textContent = hidden ? dots(part.text) : part.text;
    span.title = hidden ? words.secretHidden : words.secretShown;
    return span;
  }
  const button = document.createElement('button');
  button.type = 'button';
  button.className = hidden ? 'secret' : 'secret secret--shown';
  button.dataset['testid'] = 'secret';
  button.textContent = hidden ? dots(part.text) : part.text;
  button.setAttribute('aria-label', hidden ? words.secretHidden : words.secretShown);
  button.title = hidden ? words.secretHidden : words.secretShown;
  button.addEventListener('click', (event) => {
    event.stopPropagation();
    mask.toggle();
  });
  return button;
}

function dots(text: string): string {
  return '\u2022'.repeat(Math.min(12, Math.max(6, text.length)));
}

function piece(part: Segment, hidden: boolean, how: Masking): Node {
  if (part.cls === SECRET) return masked(part, hidden, how);
  if (part.mark) {
    const mark = document.createElement('i');
    mark.className = 'ctl';
    mark.textContent = part.text;
    return mark;
  }
  if (!part.cls) return document.createTextNode(part.text);
  const span = document.createElement('span');
  span.className = part.cls;
  span.textContent = part.text;
  return span;
}

/** Neighbouring changed stretches share one `mark`; the pieces of one secret are one. */
export function fill(
  node: Element,
  parts: readonly Segment[],
  hidden = false,
  how: Masking = 'button',
): void {
  const children: Node[] = [];
  let open: HTMLElement | null = null;
  let before: Segment | null = null;
  for (const part of parts) {
    const goesOn = hidden && part.cls === SECRET && before?.cls === SECRET;
    before = part;
    if (goesOn) continue;
    if (!part.changed) {
      open = null;
      children.push(piece(part, hidden, how));
      continue;
    }
    if (!open) {
      open = document.createElement('mark');
      children.push(open);
    }
    open.append(piece(part, hidden, how));
  }
  node.replaceChildren(...children);
}

/** Cuts segments at the ranges, which become secrets. */
export function cover(parts: readonly Segment[], ranges: readonly Range[]): Segment[] {
  const out: Segment[] = [];
  let at = 0;
  for (const part of parts) {
    const end = at + part.text.length;
    let from = at;
    for (const range of ranges) {
      if (range.to <= from || range.from >= end) continue;
      if (range.from > from) out.push({ ...part, text: part.text.slice(from - at, range.from - at) });
      const start = Math.max(from, range.from);
      const to = Math.min(end, range.to);
      out.push({ ...part, cls: SECRET, mark: false, text: part.text.slice(start - at, to - at) });
      from = to;
    }
    if (from < end) out.push({ ...part, text: part.text.slice(from - at) });
    at = end;
  }
  return out;
}

/** `{@attach line(parts)}` for segments that carry their secrets already, as those of `highlight` do. */
export function line(parts: readonly Segment[]): Attachment {
  return (node) => fill(node, parts, mask.on);
}

/** `{@attach text(parts)}` for a text of its own, which is looked through first; it is not seen before: `instead` is. */
export function text(parts: readonly Segment[], how: Masking = 'button', instead?: string): Attachment {
  return (node) => {
    const hidden = mask.on;
    const whole = parts.map((part) => part.text).join('');
    const known = knownSecrets(whole);
    if (known) return fill(node, cover(parts, known), hidden, how);
    let live = true;
    if (instead === undefined) {
      node.classList.add('veiled');
      fill(node, parts);
    } else node.textContent = instead;
    void findSecrets(whole).then((found) => {
      if (!live) return;
      if (found.length || instead !== undefined) fill(node, cover(parts, found), hidden, how);
      node.classList.remove('veiled');
    });
    return () => {
      live = false;
      node.classList.remove('veiled');
    };
  };
}

/** A text of a list row: one line, its secrets masked, nothing in it to press. */
export function plain(whole: string, instead?: string): Attachment {
  return text(plainSegments(whole, []), 'plain', instead);
}
