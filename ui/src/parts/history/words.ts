import { dictionary } from '../../i18n';

/** What the history of restores says. */
export const words = dictionary(
  {
    history: 'History of restores',
    listLabel: 'Restores, newest first',
    none: 'Nothing was restored yet',
    noneText:
      'Each restore is listed here and can be taken back; taking back is a restore too, and can itself be taken back.',
    fault: 'The history could not be read',
    undo: 'Undo this restore',
    redo: 'Undo this undo',
    undone: 'taken back',
    isUndo: 'undo',
    undoOf: 'takes back',
    undoneBy: 'taken back by',
    earlier: 'an earlier restore',
    when: 'when',
    kind: 'kind',
    root: 'folder',
    files: 'Files',
    file: 'file',
    hunk: 'hunk',
    filesKind: 'files',
    tree: 'whole tree',
    undoChange: 'one change undone',
    chip: 'chip',
    putBack: 'put back',
    editSnapshot: 'edit snapshot',
    create: 'new',
    replace: 'changed',
    delete: 'deleted',
    same: 'the same',
    blocked: 'It cannot be taken back',
    total: (n: number, count: string) => (n === 1 ? '1 restore' : `${count} restores`),
    before: 'Restore before',
    next: 'Next restore',
    paneEdge: 'Width of the list',
  },
  {
    history: '恢复历史',
    listLabel: '恢复，由新到旧',
    none: '还没有恢复过任何内容',
    noneText: '每次恢复都列在这里，可以撤销；撤销本身也是一次恢复，同样可以撤销。',
    fault: '无法读取历史',
    undo: '撤销此次恢复',
    redo: '撤销此次撤销',
    undone: '已撤销',
    isUndo: '撤销',
    undoOf: '撤销了',
    undoneBy: '被撤销于',
    earlier: '更早的一次恢复',
    when: '时间',
    kind: '种类',
    root: '文件夹',
    files: '文件',
    file: '文件',
    hunk: '块',
    filesKind: '多个文件',
    tree: '整个目录树',
    undoChange: '撤销一次改动',
    chip: '碎片',
    putBack: '放回',
    editSnapshot: '编辑快照',
    create: '新建',
    replace: '修改',
    delete: '删除',
    same: '相同',
    blocked: '无法撤销',
    total: (_n, count) => `${count} 次恢复`,
    before: '上一次恢复',
    next: '下一次恢复',
    paneEdge: '列表的宽度',
  },
);

/** What kind of restore it was. */
export function kindWord(kind: string): string {
  switch (kind) {
    case 'file':
      return words.file;
    case 'hunk':
      return words.hunk;
    case 'files':
      return words.filesKind;
    case 'tree':
      return words.tree;
    case 'undo-change':
      return words.undoChange;
    case 'chip':
      return words.chip;
    case 'put-back':
      return words.putBack;
    case 'edit-snapshot':
      return words.editSnapshot;
    case 'undo':
      return words.isUndo;
    default:
      return kind;
  }
}

export function actionWord(action: string): string {
  switch (action) {
    case 'create':
      return words.create;
    case 'replace':
      return words.replace;
    case 'delete':
      return words.delete;
    default:
      return words.same;
  }
}
