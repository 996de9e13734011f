import { describe, expect, it } from 'vitest';
import type { FileRow } from '../../api';
import { moveInTree, parts, splitPath, treeRows } from './tree';

function file(label: string, more: Partial<FileRow> = {}): FileRow {
  return {
    path: '/home/li/' + label,
    label,
    status: 'M',
    certainty: 'exact',
    exists: true,
    renamedFrom: null,
    lastIndex: 1,
    touchedNow: false,
    bytes: 1,
    ...more,
  };
}

const rows = [
  file('app/models/card.py'),
  file('app/models/user.py'),
  file('app/services/payment_service.py', { touchedNow: true }),
  file('conf/local.yaml'),
  file('pyproject.toml'),
];
const show = (closed: string[] = []) =>
  treeRows(rows, new Set(closed)).map((n) => '.'.repeat(n.depth) + n.name + (n.kind === 'folder' ? '/' : ''));

describe('the tree', () => {
  it('nests folders, files after them', () => {
    expect(show()).toEqual([
      'app/models/',
      '.card.py',
      '.user.py',
      'app/services/',
      '.payment_service.py',
      'conf/',
      '.local.yaml',
      'pyproject.toml',
    ]);
  });

  it('nests a folder below one that has files of its own', () => {
    const nested = treeRows([file('src/main.rs'), file('src/a/b/x.rs')], new Set());
    expect(nested.map((n) => '.'.repeat(n.depth) + n.name)).toEqual(['src', '.a/b', '..x.rs', '.main.rs']);
    expect(treeRows([file('src/main.rs'), file('src/a/b/x.rs')], new Set(['src']))).toHaveLength(1);
  });

  it('leads a folder by the names of those that hold no files', () => {
    const one = treeRows([file('a/b/c/x.rs'), file('a/b/c/y.rs')], new Set());
    expect(one.map((n) => n.name)).toEqual(['a/b/c', 'x.rs', 'y.rs']);
    expect(one[0]).toMatchObject({ id: 'a/b/c', files: 2, depth: 0 });
  });

  it('folds, and says that the touched file is within', () => {
    expect(show(['app/models', 'app/services'])).toEqual([
      'app/models/',
      'app/services/',
      'conf/',
      '.local.yaml',
      'pyproject.toml',
    ]);
    expect(treeRows(rows, new Set(['app/services']))[3]).toMatchObject({
      open: false,
      files: 1,
      touched: true,
    });
  });

  it('holds for absolute and Windows paths and odd names', () => {
    expect(parts('/etc/hosts')).toEqual(['/etc', 'hosts']);
    expect(parts('C:\\x\\y.txt')).toEqual(['C:', 'x', 'y.txt']);
    expect(parts('a//b')).toEqual(['a', 'b']);
    expect(treeRows([file('__proto__/constructor')], new Set()).map((n) => n.name)).toEqual([
      '__proto__',
      'constructor',
    ]);
    expect(treeRows([], new Set())).toEqual([]);
  });

  it('splits a path for a head line', () => {
    expect(splitPath('a/b.c')).toEqual({ folder: 'a/', name: 'b.c' });
    expect(splitPath('b.c')).toEqual({ folder: '', name: 'b.c' });
  });
});

describe('keys in the tree', () => {
  const nodes = treeRows(rows, new Set());

  it('move by j, k and arrows and stop at the ends', () => {
    expect(moveInTree(nodes, 0, 'j').at).toBe(1);
    expect(moveInTree(nodes, 0, 'k').at).toBe(0);
    expect(moveInTree(nodes, nodes.length - 1, 'ArrowDown').at).toBe(nodes.length - 1);
    expect(moveInTree(nodes, 3, 'End').at).toBe(nodes.length - 1);
  });

  it('fold and unfold, and go to the parent', () => {
    expect(moveInTree(nodes, 0, 'ArrowLeft')).toEqual({ at: 0, fold: { id: 'app/models', open: false } });
    expect(moveInTree(nodes, 2, 'ArrowLeft')).toEqual({ at: 0 });
    const folded = treeRows(rows, new Set(['app/models']));
    expect(moveInTree(folded, 0, 'ArrowRight')).toEqual({ at: 0, fold: { id: 'app/models', open: true } });
  });
});
