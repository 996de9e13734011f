import type { Settled } from '../../api';
import { dictionary } from '../../i18n';

/** What the files part says. */
export const words = dictionary(
  {
    tree: 'Files at the playhead',
    changed: 'Changed',
    all: 'All',
    which: 'Which files',
    filter: 'Filter files',
    filterPlaceholder: 'Part of a path',
    noneChanged: 'Nothing changed yet',
    noneChangedText: 'No entry up to the playhead changes a file.',
    none: 'No files',
    noneText: 'This log names no file.',
    noMatch: 'No file matches',
    more: (n: string) => `${n} more files`,
    folder: (files: string) => `${files} files`,
    A: 'added',
    M: 'modified',
    D: 'deleted',
    R: 'renamed',
    '?': 'unknown',
    '=': 'unchanged',
    from: (path: string) => `from ${path}`,
    touched: 'touched by this event',
    exact: 'exact',
    unverified: 'unverified',
    unknown: 'unknown',
    exactWhy: 'follows from the log alone',
    unverifiedWhy: 'something outside the log may have changed it',
    unknownWhy: 'the log never showed its content',
    written: 'written in full',
    'known-base': 'edits on a known content',
    'base-unknown': 'an edit whose base the log never showed',
    'shell-since': 'a shell command may have touched it since',
    observed: 'seen, not written',
    pane: 'File at the playhead',
    pick: 'No file chosen',
    pickText: 'Choose one in the tree, or move the playhead: the file it touches is shown.',
    against: 'Against',
    previous: 'Previous',
    disk: 'Disk',
    point: (name: string) => `Point ${name}`,
    pointHint: 'Set it with ]',
    form: 'How it is shown',
    content: 'Content',
    inline: 'Inline',
    split: 'Side by side',
    ofChanges: (at: string, of: string) => `${at} of ${of}`,
    before: 'Change before',
    next: 'Next change',
    moreActions: 'More',
    authors: 'History across all sessions',
    backups: 'Backups on disk',
    backupsAbout: 'Copies that the agent kept beside its log, from before it changed the file.',
    backup: (n: string) => `backup ${n}`,
    settledDisk: 'settled by the disk',
    settledCommit: (id: string) => `settled by git commit ${id}`,
    settledObject: (id: string) => `settled by git object ${id}`,
    settledOther: (what: string) => `settled by ${what}`,
    versions: 'Versions',
    version: (n: string, of: string) => `Version ${n} of ${of}`,
    noVersion: 'Not there yet',
    versionsOf: (path: string) => `Versions of ${path}`,
    restore: 'Restore as it is here',
    reveal: 'Reveal in the file manager',
    copyPath: 'Copy the path',
    follow: 'Follow the playhead',
    create: 'created',
    change: 'changed',
    delete: 'deleted',
    rename: 'renamed',
    observe: 'seen',
    outside: 'changed outside the log',
    gone: 'Deleted here',
    goneText: 'The file does not exist at this position.',
    notYet: 'Not there yet',
    notYetText: 'The file does not exist at this position; the log names it later.',
    goLast: 'Go to its last version',
    unknownTitle: 'The content is not known here',
    unknownText: 'The log shows that the file was touched, but not what it held.',
    binary: 'Not text',
    binaryText: (size: string) => `${size}. A binary file is shown by its size and hash only.`,
    empty: 'Empty file',
    noFinal: 'no newline at the end',
    crlf: 'CRLF line ends',
    mixed: 'mixed line ends',
    failed: 'Could not be read',
    openFolder: 'Open a folder…',
    copyFailed: 'Could not copy',
    paneEdge: 'Width of the tree',
  },
  {
    tree: '播放头处的文件',
    changed: '已改动',
    all: '全部',
    which: '哪些文件',
    filter: '筛选文件',
    filterPlaceholder: '路径的一部分',
    noneChanged: '尚无改动',
    noneChangedText: '到播放头为止没有条目改动文件。',
    none: '没有文件',
    noneText: '此日志没有提到任何文件。',
    noMatch: '没有匹配的文件',
    more: (n) => `还有 ${n} 个文件`,
    folder: (files) => `${files} 个文件`,
    A: '新增',
    M: '修改',
    D: '删除',
    R: '重命名',
    '?': '未知',
    '=': '未变',
    from: (path) => `原为 ${path}`,
    touched: '此事件触及',
    exact: '确定',
    unverified: '未核实',
    unknown: '未知',
    exactWhy: '仅由日志即可得出',
    unverifiedWhy: '日志之外可能有东西改过它',
    unknownWhy: '日志从未显示其内容',
    written: '完整写入',
    'known-base': '在已知内容上编辑',
    'base-unknown': '编辑的基础内容日志中没有',
    'shell-since': '其后可能被 shell 命令改动',
    observed: '读到过，未写入',
    pane: '播放头处的文件',
    pick: '未选择文件',
    pickText: '在树中选择一个，或移动播放头：会显示它触及的文件。',
    against: '对比',
    previous: '上一版',
    disk: '磁盘',
    point: (name) => `点 ${name}`,
    pointHint: '用 ] 设置',
    form: '显示方式',
    content: '内容',
    inline: '单栏',
    split: '并排',
    ofChanges: (at, of) => `${at} / ${of}`,
    before: '上一处改动',
    next: '下一处改动',
    moreActions: '更多',
    authors: '跨全部会话的历史',
    backups: '磁盘上的备份',
    backupsAbout: '代理在改动文件之前，在日志旁保留的副本。',
    backup: (n) => `备份 ${n}`,
    settledDisk: '由磁盘证实',
    settledCommit: (id) => `由 git 提交 ${id} 证实`,
    settledObject: (id) => `由 git 对象 ${id} 证实`,
    settledOther: (what) => `由 ${what} 证实`,
    versions: '版本',
    version: (n, of) => `版本 ${n} / ${of}`,
    noVersion: '尚不存在',
    versionsOf: (path) => `${path} 的版本`,
    restore: '恢复为此处的内容',
    reveal: '在文件管理器中显示',
    copyPath: '复制路径',
    follow: '跟随播放头',
    create: '创建',
    change: '修改',
    delete: '删除',
    rename: '重命名',
    observe: '读到',
    outside: '在日志之外被改动',
    gone: '此处已删除',
    goneText: '文件在此位置不存在。',
    notYet: '尚不存在',
    notYetText: '文件在此位置不存在；日志稍后才提到它。',
    goLast: '转到最后一个版本',
    unknownTitle: '此处的内容未知',
    unknownText: '日志表明文件被触及，但没有记录其内容。',
    binary: '不是文本',
    binaryText: (size) => `${size}。二进制文件只显示大小和哈希。`,
    empty: '空文件',
    noFinal: '末尾没有换行',
    crlf: 'CRLF 换行',
    mixed: '混合换行',
    failed: '无法读取',
    openFolder: '打开文件夹…',
    copyFailed: '无法复制',
    paneEdge: '树的宽度',
  },
);

export type StatusLetter = 'A' | 'M' | 'D' | 'R' | '?' | '=';
const letters: readonly string[] = ['A', 'M', 'D', 'R', '?', '='];

/** The word of a status letter. */
export function statusWord(status: string): string {
  return letters.includes(status) ? words[status as StatusLetter] : status;
}

/** Word and explanation of a certainty. */
export function certaintyWords(certainty: string): { word: string; why: string } {
  switch (certainty) {
    case 'exact':
      return { word: words.exact, why: words.exactWhy };
    case 'unverified':
      return { word: words.unverified, why: words.unverifiedWhy };
    default:
      return { word: words.unknown, why: words.unknownWhy };
  }
}

/** Why a content is as sure as it is. */
export function whyWord(why: string): string | undefined {
  switch (why) {
    case 'written':
    case 'known-base':
    case 'base-unknown':
    case 'shell-since':
    case 'observed':
      return words[why];
    default:
      return undefined;
  }
}

/** What an entry did to a file. */
export function opWord(op: string): string {
  switch (op) {
    case 'create':
    case 'change':
    case 'delete':
    case 'rename':
    case 'observe':
      return words[op];
    default:
      return op;
  }
}

/** Who proves what the log alone does not. */
export function settledWord(settled: Settled): string {
  switch (settled.by) {
    case 'disk':
      return words.settledDisk;
    case 'commit':
      return words.settledCommit(settled.what);
    case 'object':
      return words.settledObject(settled.what);
    default:
      return words.settledOther(settled.what);
  }
}
