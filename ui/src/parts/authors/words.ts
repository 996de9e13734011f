import type { PathAuthor, PathVersion, Settled } from '../../api';
import { dictionary, format } from '../../i18n';

/** What the history of a file over all authors says. */
export const words = dictionary(
  {
    title: 'File history',
    edge: 'Width of the list',
    project: 'Project',
    choose: 'Choose a project',
    filter: 'Find a file',
    filesLabel: 'Files, newest change first',
    versionsLabel: 'Versions, newest first',
    back: 'All files',
    files: (n: number, count: string) => (n === 1 ? '1 file' : `${count} files`),
    versions: (n: number, count: string) => (n === 1 ? '1 version' : `${count} versions`),
    sessions: (n: number, count: string) => (n === 1 ? '1 session' : `${count} sessions`),
    changes: (n: number, count: string) => (n === 1 ? '1 change' : `${count} changes`),
    onlyRead: 'only read',
    gone: 'not on disk',
    noProjects: 'No project yet',
    noProjectsText:
      'Sessions of agents on this machine are listed here by the folder that they worked in. Open a log or a folder to begin.',
    openFolder: 'Open a folder…',
    noFiles: 'No session names a file here',
    noFilesText: 'What sessions of this project read, write or patch appears here.',
    noMatch: 'No file matches',
    gathering: (done: string, of: string) => `Reading sessions, ${done} of ${of}`,
    gatheringBar: 'Sessions that are read',
    stop: 'Stop',
    stopped: 'Stopped: what was found until then',
    readOn: 'Read on',
    fault: 'This could not be read',
    again: 'Try again',
    unread: (n: number, count: string) =>
      n === 1 ? '1 log could not be read' : `${count} logs could not be read`,
    clipped: 'Git has older commits of it that are not shown.',
    noVersions: 'Nobody knows this file',
    noVersionsText: 'No session, commit or edit snapshot says anything of it, and it is not on the disk.',
    pick: 'Choose a version',
    today: 'Today',
    yesterday: 'Yesterday',
    noTime: 'Without a time',
    now: 'now',
    diskNow: 'On disk now',
    onDisk: 'on disk now',
    against: 'Compared with',
    previous: 'the one before',
    disk: 'the disk',
    other: 'another',
    otherHint: 'Mark a version to compare with first',
    mark: 'Compare with this one',
    marked: 'compared with',
    earlier: 'Earlier version',
    later: 'Later version',
    also: 'also',
    openSession: 'Open this session here',
    openChip: 'Show this chip',
    openSnapshot: 'Show this edit snapshot',
    more: 'More',
    reveal: 'Show in the file manager',
    idle: 'Nothing to restore: choose a version that the disk does not have.',
    onDiskAlready: 'The disk has this version.',
    unknownIdle: 'Nobody knows the whole content of this version.',
    checkout: (folder: string) => `in the work tree ${folder}`,
    outside: 'changed outside the log',
    touched: 'A shell command of the session may have changed it since.',
    who: 'author',
    when: 'when',
    what: 'what',
    sure: 'certainty',
    size: 'size',
    comma: ', ',
    create: 'created',
    change: 'changed',
    delete: 'deleted',
    rename: 'renamed',
    observe: 'read',
    commit: 'committed',
    stash: 'stashed',
    checkoutOp: 'brought back by git',
    'snapshot-before': 'before an edit',
    'snapshot-after': 'after an edit',
    backup: 'backup on disk',
    diskOp: 'on disk',
    cut: 'lines cut out',
    exact: 'exact',
    unverified: 'unverified',
    unknown: 'unknown',
    written: 'written in full',
    'known-base': 'an edit on a known base',
    'base-unknown': 'the base is unknown, only the changed lines are known',
    'shell-since': 'a shell command may have touched it since its base was last seen',
    observed: 'seen as it was',
    committed: 'as git has it',
    'git-restored': 'what HEAD had then; the index may have held something else',
    snapshot: 'as the chip server kept it',
    'lines-rewritten': 'the chip server keeps lines with ends made alike',
    byBackup: 'a copy that the agent kept beside its log',
    byDisk: 'as the disk has it',
    settledDisk: 'settled by the disk',
    settledCommit: (id: string) => `settled by git commit ${id}`,
    settledObject: (id: string) => `settled by git object ${id}`,
    settledSession: (name: string) => `settled by a later read: ${name}`,
    settledSnapshot: (id: string) => `settled by edit snapshot ${id}`,
    settledBackup: (name: string) => `settled by backup ${name}`,
  },
  {
    title: '文件历史',
    edge: '列表宽度',
    project: '项目',
    choose: '选择项目',
    filter: '查找文件',
    filesLabel: '文件，最近改动的在前',
    versionsLabel: '版本，最新的在前',
    back: '全部文件',
    files: (_n, count) => `${count} 个文件`,
    versions: (_n, count) => `${count} 个版本`,
    sessions: (_n, count) => `${count} 个会话`,
    changes: (_n, count) => `${count} 次改动`,
    onlyRead: '只读过',
    gone: '不在磁盘上',
    noProjects: '还没有项目',
    noProjectsText: '本机上各代理的会话按其工作文件夹列在这里。请打开日志或文件夹。',
    openFolder: '打开文件夹…',
    noFiles: '没有会话提到此处的文件',
    noFilesText: '此项目的会话读取、写入或修补的文件会出现在这里。',
    noMatch: '没有匹配的文件',
    gathering: (done, of) => `正在读取会话，${done} / ${of}`,
    gatheringBar: '已读取的会话',
    stop: '停止',
    stopped: '已停止：这是此前找到的内容',
    readOn: '继续读取',
    fault: '无法读取',
    again: '重试',
    unread: (_n, count) => `${count} 个日志无法读取`,
    clipped: 'Git 中还有更早的提交未显示。',
    noVersions: '没有人知道此文件',
    noVersionsText: '没有会话、提交或编辑快照提到它，磁盘上也没有。',
    pick: '选择一个版本',
    today: '今天',
    yesterday: '昨天',
    noTime: '没有时间',
    now: '现在',
    diskNow: '磁盘现状',
    onDisk: '磁盘上就是它',
    against: '比较对象',
    previous: '前一版本',
    disk: '磁盘',
    other: '另一版本',
    otherHint: '请先标记要比较的版本',
    mark: '与此版本比较',
    marked: '比较对象',
    earlier: '更早的版本',
    later: '更新的版本',
    also: '同样内容',
    openSession: '在此处打开该会话',
    openChip: '显示此碎片',
    openSnapshot: '显示此编辑快照',
    more: '更多',
    reveal: '在文件管理器中显示',
    idle: '没有可恢复的内容：请选择磁盘上没有的版本。',
    onDiskAlready: '磁盘上就是此版本。',
    unknownIdle: '没有人知道此版本的完整内容。',
    checkout: (folder) => `在工作树 ${folder} 中`,
    outside: '在日志之外被改动',
    touched: '此后该会话的 shell 命令可能改动过它。',
    who: '作者',
    when: '时间',
    what: '操作',
    sure: '确定性',
    size: '大小',
    comma: '，',
    create: '新建',
    change: '改动',
    delete: '删除',
    rename: '改名',
    observe: '读取',
    commit: '提交',
    stash: '贮藏',
    checkoutOp: '由 git 取回',
    'snapshot-before': '编辑之前',
    'snapshot-after': '编辑之后',
    backup: '磁盘上的备份',
    diskOp: '磁盘上',
    cut: '剪下的行',
    exact: '确切',
    unverified: '未证实',
    unknown: '未知',
    written: '完整写入',
    'known-base': '在已知内容上编辑',
    'base-unknown': '原内容未知，只知道改动的行',
    'shell-since': '自上次见到其内容以来，shell 命令可能动过它',
    observed: '所见即如此',
    committed: '如 git 所存',
    'git-restored': '当时 HEAD 的内容；索引中可能另有内容',
    snapshot: '如碎片服务器所存',
    'lines-rewritten': '碎片服务器保存时统一了行尾',
    byBackup: '代理在日志旁保留的副本',
    byDisk: '如磁盘所有',
    settledDisk: '由磁盘证实',
    settledCommit: (id) => `由 git 提交 ${id} 证实`,
    settledObject: (id) => `由 git 对象 ${id} 证实`,
    settledSession: (name) => `由之后的读取证实：${name}`,
    settledSnapshot: (id) => `由编辑快照 ${id} 证实`,
    settledBackup: (name) => `由备份 ${name} 证实`,
  },
);

export function opWord(op: PathVersion['op']): string {
  switch (op) {
    case 'checkout':
      return words.checkoutOp;
    case 'disk':
      return words.diskOp;
    default:
      return words[op];
  }
}

/** Why it is as certain as it is; a reason of a newer engine is shown as it is. */
export function whyWord(why: string): string {
  switch (why) {
    case 'written':
    case 'known-base':
    case 'base-unknown':
    case 'shell-since':
    case 'observed':
    case 'committed':
    case 'git-restored':
    case 'snapshot':
    case 'lines-rewritten':
      return words[why];
    case 'backup':
      return words.byBackup;
    case 'disk':
      return words.byDisk;
    default:
      return why;
  }
}

export function certaintyWord(certainty: string): string {
  return certainty === 'exact' || certainty === 'unverified' ? words[certainty] : words.unknown;
}

export function settledWord(settled: Settled): string {
  switch (settled.by) {
    case 'disk':
      return words.settledDisk;
    case 'commit':
      return words.settledCommit(settled.what);
    case 'object':
      return words.settledObject(settled.what);
    case 'session':
      return words.settledSession(settled.what);
    case 'snapshot':
      return words.settledSnapshot(settled.what);
    case 'backup':
      return words.settledBackup(settled.what);
  }
}

/** Names of agents are the same in every language. */
const AGENTS: Record<string, string> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  opencode: 'OpenCode',
  gemini: 'Gemini',
  openhands: 'OpenHands',
  cline: 'Cline',
  'roo-code': 'Roo',
  pi: 'pi',
  qwen: 'Qwen',
  kimi: 'Kimi',
  goose: 'Goose',
  'copilot-cli': 'Copilot',
  'swe-agent': 'SWE-agent',
  aider: 'Aider',
};

export function agentName(agent: string): string {
  return AGENTS[agent] ?? agent;
}

/** Who it was, in two or three words. */
export function authorKindWord(author: PathAuthor): string {
  switch (author.kind) {
    case 'session':
      return agentName(author.by ?? '');
    case 'git':
      return `git ${author.id ?? ''}`;
    case 'snapshot':
    case 'chip':
      return author.name;
    case 'disk':
      return words.diskNow;
  }
}

/** What it calls itself: a session's title, a commit's subject. */
export function authorName(author: PathAuthor): string {
  switch (author.kind) {
    case 'session':
    case 'git':
      return author.name;
    case 'snapshot':
    case 'chip':
      return author.id ?? '';
    case 'disk':
      return '';
  }
}

export function dayWord(at: number | null, today: boolean, yesterday: boolean, now: number): string {
  if (at === null) return words.noTime;
  const day = format.day(at, now);
  if (today) return words.today;
  return yesterday ? `${words.yesterday}${format.comma()}${day}` : day;
}
