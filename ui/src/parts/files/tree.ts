// The file list of a position as a tree of folders: single-child folders joined, folding, order, movement by keys.
// Pure; rows are drawn by Tree.svelte.
import type { FileRow } from '../../api';

export interface FolderNode {
  kind: 'folder';
  /** Path below the base, without a final slash: names the folder when folded. */
  id: string;
  name: string;
  depth: number;
  open: boolean;
  /** Files below. */
  files: number;
  /** A file below is touched by the entry at the playhead. */
  touched: boolean;
}

export interface FileNode {
  kind: 'file';
  id: string;
  name: string;
  depth: number;
  row: FileRow;
}

export type TreeNode = FolderNode | FileNode;

interface Folder {
  name: string;
  id: string;
  folders: Map<string, Folder>;
  files: FileRow[];
}

/** Splits a label at `/` and `\`; a leading separator stays with the first part (absolute paths). */
export function parts(label: string): string[] {
  const out: string[] = [];
  let from = 0;
  for (let i = 0; i < label.length; i++) {
    const c = label[i];
    if ((c === '/' || c === '\\') && i > 0) {
      if (i > from) out.push(label.slice(from, i));
      from = i + 1;
    }
  }
  if (from < label.length) out.push(label.slice(from));
  return out;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function grow(rows: readonly FileRow[]): Folder {
  const top: Folder = { name: '', id: '', folders: new Map(), files: [] };
  for (const row of rows) {
    const names = parts(row.label);
    let at = top;
    for (const name of names.slice(0, -1)) {
      let next = at.folders.get(name);
      if (!next) {
        next = { name, id: at.id ? `${at.id}/${name}` : name, folders: new Map(), files: [] };
        at.folders.set(name, next);
      }
      at = next;
    }
    at.files.push(row);
  }
  return top;
}

function count(folder: Folder): { files: number; touched: boolean } {
  let files = folder.files.length;
  let touched = folder.files.some((f) => f.touchedNow);
  for (const f of folder.folders.values()) {
    const c = count(f);
    files += c.files;
    touched ||= c.touched;
  }
  return { files, touched };
}

/**
 * Rows in order: folders before files, each by name. A folder without files of its own is not a row: its name
 * leads those of its folders (`app/models`, `app/services`), which keeps a narrow tree flat.
 */
export function treeRows(rows: readonly FileRow[], closed: ReadonlySet<string>): TreeNode[] {
  const out: TreeNode[] = [];
  const walk = (folder: Folder, depth: number, prefix: string) => {
    for (const child of [...folder.folders.values()].sort((a, b) => compare(a.name, b.name))) {
      const name = prefix + child.name;
      if (child.files.length === 0) {
        walk(child, depth, name + '/');
        continue;
      }
      const open = !closed.has(child.id);
      out.push({ kind: 'folder', id: child.id, name, depth, open, ...count(child) });
      if (open) {
        walk(child, depth + 1, '');
        leaves(child, depth + 1);
      }
    }
  };
  const leaves = (folder: Folder, depth: number) => {
    for (const row of [...folder.files].sort((a, b) => compare(a.label, b.label))) {
      const names = parts(row.label);
      out.push({ kind: 'file', id: row.path, name: names[names.length - 1] ?? row.label, depth, row });
    }
  };
  const top = grow(rows);
  walk(top, 0, '');
  leaves(top, 0);
  return out;
}

/** The next row for a key; `fold` tells to open or close the folder it stands on. */
export function moveInTree(
  nodes: readonly TreeNode[],
  at: number,
  key: string,
): { at: number; fold?: { id: string; open: boolean } } {
  const last = nodes.length - 1;
  const node = nodes[at];
  switch (key) {
    case 'ArrowDown':
    case 'j':
      return { at: Math.min(last, at + 1) };
    case 'ArrowUp':
    case 'k':
      return { at: Math.max(0, at - 1) };
    case 'Home':
      return { at: 0 };
    case 'End':
      return { at: last };
    case 'PageDown':
      return { at: Math.min(last, at + 12) };
    case 'PageUp':
      return { at: Math.max(0, at - 12) };
    case 'ArrowRight':
      if (node?.kind !== 'folder') return { at };
      if (!node.open) return { at, fold: { id: node.id, open: true } };
      return { at: Math.min(last, at + 1) };
    case 'ArrowLeft': {
      if (node?.kind === 'folder' && node.open) return { at, fold: { id: node.id, open: false } };
      const depth = node?.depth ?? 0;
      for (let i = at - 1; i >= 0; i--) {
        const up = nodes[i];
        if (up?.kind === 'folder' && up.depth < depth) return { at: i };
      }
      return { at };
    }
    default:
      return { at };
  }
}

/** Folder part and name of a path, for a head line that cuts the folder first. */
export function splitPath(path: string): { folder: string; name: string } {
  const cut = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
  return { folder: path.slice(0, cut + 1), name: path.slice(cut + 1) };
}
