// Draws a line of code into an element: text nodes and class names only, never markup. Imperative because a
// window of code is some thousand stretches and is redrawn at each scrub step.
import type { Attachment } from 'svelte/attachments';
import type { Segment } from './highlight';

function piece(part: Segment): Node {
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

/** Neighbouring changed stretches share one `mark`. */
export function fill(node: Element, parts: readonly Segment[]): void {
  const children: Node[] = [];
  let open: HTMLElement | null = null;
  for (const part of parts) {
    if (!part.changed) {
      open = null;
      children.push(piece(part));
      continue;
    }
    if (!open) {
      open = document.createElement('mark');
      children.push(open);
    }
    open.append(piece(part));
  }
  node.replaceChildren(...children);
}

/** `{@attach line(parts)}` */
export function line(parts: readonly Segment[]): Attachment {
  return (node) => fill(node, parts);
}
