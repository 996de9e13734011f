import { dictionary } from '../../i18n';

/** What restoring says: preview, conflicts, confirmation. */
export const words = dictionary(
  {
    restoreTo: 'Restore to',
    restoreFiles: (count: string) => `Restore ${count} files`,
    restore: 'Restore',
    otherWays: 'Other ways to restore',
    title: (target: string) => `Restore to ${target}`,
    planning: 'Looking at the disk…',
    cancel: 'Cancel',
    openFolder: 'Open a folder…',
    close: 'Close',
    keep: 'Keep the file as it is',
    nothingTitle: 'Nothing to restore',
    nothing: 'The disk has exactly this already.',
    nothingKept: 'Nothing to put back: what differs on disk came later, and is kept.',
    nothingDeleted: 'Here the file is deleted, as on disk. Step back before its deletion to restore it.',
    refusedTitle: 'This cannot be restored here',
    failedTitle: 'The restore was not done',
    nothingWritten: 'Nothing was written.',
    moved: 'The disk changed after the preview. Here is how it stands now.',
    outsideTitle: 'Outside the folders that are open',
    outside: (file: string, folder: string) =>
      `${file} lies in ${folder}. Nothing is written there until you allow it; you are asked by the system, and may allow this file alone.`,
    allow: 'Allow…',
    hostOnly: 'Only the desktop window can ask for that. Open the folder by dropping it onto the window.',
    overwriteTitle: (n: number, count: string) =>
      n === 1
        ? 'This would overwrite 1 line that exists nowhere else'
        : `This would overwrite ${count} lines that exist nowhere else`,
    overwriteText: (path: string) =>
      `What ${path} holds there is in no log, edit snapshot or chip, so only the history of restores could give it back.`,
    overwrite: (n: number, count: string) => (n === 1 ? 'Overwrite 1 line' : `Overwrite ${count} lines`),
    onDisk: 'on disk',
    afterwards: 'afterwards',
    conflictsTitle: (n: number, count: string) =>
      n === 1 ? 'The disk has moved on in 1 place' : `The disk has moved on in ${count} places`,
    conflictsText:
      'Both the disk and the log changed the same lines. Choose for each place; nothing is written until all are settled.',
    settledOf: (n: string, of: string) => `${n} of ${of} settled`,
    place: (path: string, line: string) => `${path}, line ${line}`,
    ours: 'On disk now',
    theirs: 'From the log',
    base: 'Before both',
    takeOurs: 'Keep the disk’s',
    takeTheirs: 'Take the log’s',
    takeBoth: 'Both, disk first',
    noLines: 'no lines',
    candidatesTitle: 'It fits in more than one place',
    candidatesText: 'Choose where it goes; it is not guessed.',
    line: (n: string) => `after line ${n}`,
    lineStart: 'at the start',
    create: 'new',
    replace: 'changed',
    delete: 'deleted',
    none: 'the same',
    filesList: 'Files of this restore',
    previewStat: 'See what changes',
    unchanged: (n: number, count: string) =>
      n === 1 ? '1 file is there already' : `${count} files are there already`,
    'line-endings': 'Line ends change',
    'final-newline': 'The newline at the end changes',
    'hard-link': 'A hard link is broken: the other names keep the old content',
    symlink: 'A symbolic link inside the folder is followed and stays a link',
    'byte-order-mark': 'The byte order mark changes',
    merged: 'Merged with what changed on disk since',
    'makes-folders': 'Folders are made',
    unverified: 'Something outside the log may have changed the content since',
    'server-form': 'In the server’s own form, byte for byte',
    change: 'From the disk now to what will be there',
    moreLines: (n: string) => `and ${n} more lines`,
  },
  {
    restoreTo: '恢复到',
    restoreFiles: (count) => `恢复 ${count} 个文件`,
    restore: '恢复',
    otherWays: '其他恢复方式',
    title: (target) => `恢复到 ${target}`,
    planning: '正在查看磁盘…',
    cancel: '取消',
    openFolder: '打开文件夹…',
    close: '关闭',
    keep: '保持文件不变',
    nothingTitle: '没有可恢复的内容',
    nothing: '磁盘上已经完全如此。',
    nothingKept: '没有可恢复的内容：磁盘上的差异是之后产生的，会保留。',
    nothingDeleted: '此处该文件已删除，磁盘上也是如此。退到删除之前即可恢复它。',
    refusedTitle: '无法恢复到此处',
    failedTitle: '恢复未完成',
    nothingWritten: '没有写入任何内容。',
    moved: '预览之后磁盘有变化。这是现在的情况。',
    outsideTitle: '在已打开的文件夹之外',
    outside: (file, folder) =>
      `${file} 位于 ${folder}。在您允许之前不会写入任何内容；系统会询问您，也可以只允许这一个文件。`,
    allow: '允许…',
    hostOnly: '只有桌面窗口能询问此事。请把文件夹拖到窗口上打开。',
    overwriteTitle: (_n, count) => `这会覆盖 ${count} 行别处没有的内容`,
    overwriteText: (path) => `${path} 中的这些内容不在任何日志、编辑快照或碎片中，只有恢复历史能找回。`,
    overwrite: (_n, count) => `覆盖 ${count} 行`,
    onDisk: '磁盘上',
    afterwards: '之后',
    conflictsTitle: (_n, count) => `磁盘上有 ${count} 处已变化`,
    conflictsText: '磁盘和日志改动了相同的行。请逐处选择；全部选定之前不会写入任何内容。',
    settledOf: (n, of) => `已选定 ${n} / ${of}`,
    place: (path, line) => `${path}，第 ${line} 行`,
    ours: '磁盘现状',
    theirs: '来自日志',
    base: '改动之前',
    takeOurs: '保留磁盘的',
    takeTheirs: '采用日志的',
    takeBoth: '两者都要，磁盘在前',
    noLines: '没有行',
    candidatesTitle: '有多处符合',
    candidatesText: '请选择位置，不作猜测。',
    line: (n) => `第 ${n} 行之后`,
    lineStart: '在开头',
    create: '新建',
    replace: '修改',
    delete: '删除',
    none: '相同',
    filesList: '此次恢复的文件',
    previewStat: '查看变化',
    unchanged: (_n, count) => `${count} 个文件已是如此`,
    'line-endings': '换行符会改变',
    'final-newline': '末尾的换行会改变',
    'hard-link': '硬链接会断开：其他名称保留旧内容',
    symlink: '文件夹内的符号链接会被跟随，并仍是链接',
    'byte-order-mark': '字节顺序标记会改变',
    merged: '与磁盘上之后的改动合并',
    'makes-folders': '会新建文件夹',
    unverified: '日志之外可能有东西改过此内容',
    'server-form': '服务器自己的形式，逐字节一致',
    change: '从磁盘现状到恢复之后',
    moreLines: (n) => `另有 ${n} 行`,
  },
);

/** What else a step changes, for people; a note of a newer engine is shown as it is. */
export function noteWord(note: string): string {
  switch (note) {
    case 'line-endings':
    case 'final-newline':
    case 'hard-link':
    case 'symlink':
    case 'byte-order-mark':
    case 'merged':
    case 'makes-folders':
    case 'unverified':
    case 'server-form':
      return words[note];
    default:
      return note;
  }
}
