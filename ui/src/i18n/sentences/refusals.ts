/**
 * Why something was not done, and why a path is never written: a sentence for each code of the engine's tables, made
 * of what the refusal names. The engine's own English is shown only where it knows more, as what the system said.
 */
import { codes, type Code } from '../../api/codes';
import { language, type Tongue } from '../language.svelte';

type About = readonly string[];
type Say = (about: About) => string;
const one = (about: About) => about[0] ?? '';
const two = (about: About) => about[1] ?? '';
const list = (about: About, comma: string) => about.join(comma);

const WHYS: Record<Tongue, Record<Code<'whys'>, Say>> = {
  en: {
    'no-file': (a) => `${one(a)} names no file below the folder.`,
    climbs: (a) => `${one(a)} climbs out of the folder.`,
    foreign: (a) => `${one(a)} is a path of another system.`,
    'not-below': (a) => `${one(a)} lies neither below an opened folder nor below the log's working folder.`,
    link: (a) => `${one(a)} goes through a symbolic link that leaves the folder.`,
    'own-place': (a) => `${one(a)} lies in Chipdeck's own folders.`,
    'too-wide': (a) =>
      `${one(a)} lies right in your home folder or one above it. Open that folder by name if you mean it.`,
    'not-granted': (a) => `${one(a)} is not the one file of this folder that may be written.`,
    'not-opened': (a) => `${one(a)} was not opened.`,
    'in-no-folder': (a) => `${one(a)} lies in none of the opened folders.`,
    elsewhere: (a) => `${one(a)} lies elsewhere.`,
    'nothing-known': () => 'There is nothing to write: no content is known there.',
    'folder-there': (a) => `A folder stands at ${one(a)}.`,
    'file-in-the-way': (a) => `A file stands where ${one(a)} needs a folder.`,
    'special-file': (a) => `${one(a)} is a device, a socket or a pipe.`,
    'link-loop': (a) => `${one(a)}: links lead to each other.`,
    'link-missing': (a) => `${one(a)}: a folder on the way of a link is missing.`,
    'name-too-long': (a) => `${one(a)}: the name is too long for this file system.`,
    'not-utf8': (a) => `${one(a)}: a name on the way is not UTF-8.`,
    'same-file': (a) => `${one(a)} and ${two(a)} are the same file.`,
    'plan-gone': () => 'That preview is too old.',
    'no-conflict': () => 'There is no such conflict.',
    'no-place': () => 'Its place is not chosen yet.',
    unsettled: (a) =>
      one(a) === '1' ? '1 conflict must be settled first.' : `${one(a)} conflicts must be settled first.`,
    'already-there': () => 'There is nothing to do: the disk has it already.',
    'stale-hunk': () => 'That change is of another comparison.',
    moved: (a) => `Nothing was written: the disk has moved on in ${list(a, ', ')}.`,
    'moved-place': () => 'The text would no longer go there.',
    'unknown-there': (a) => `The log doesn't show the content of ${one(a)} there.`,
    'no-base': (a) => `${one(a)} cannot be merged: the log doesn't know what the disk's content came from.`,
    'unknown-restore': () => 'The history has no such restore.',
    'nothing-to-undo': () => 'There is nothing to undo.',
    'undone-already': () => 'It was taken back already.',
    'image-gone': (a) => `The kept copy of ${one(a)} is gone.`,
    busy: () => 'Another restore is running.',
    'broke-off': () => 'An earlier restore broke off and could not be put back yet.',
    'put-back': (a) => `${one(a)} could not be written; everything is as it was.`,
    broken: (a) =>
      `${one(a)} could not be written, and ${two(a)} could not be put back; it is tried again at the next start.`,
    io: () => 'A file could not be read or written.',
    'no-chip': () => 'That chip is no longer here.',
    'unsafe-id': () => 'Its name cannot be a file in the chip folder.',
    'damaged-chip': () => 'The chip is damaged.',
    'no-content': () => 'This chip has no content.',
    'only-deleted': () => 'Only a deleted text can be put back.',
    'no-origin': () => 'Nothing says where this chip belongs.',
    'no-archive': () => 'The archive is turned off.',
    'chip-exists': () => 'The chip folder has it already.',
    'repair-foreign': () =>
      'Only a log in the canonical format can be repaired; the log of an agent is never written.',
    'repair-torn': (a) =>
      `The last line of ${one(a)} has no line end: it may still be written. Nothing was appended.`,
    'repair-moved': (a) =>
      `${one(a)} is not what the preview showed: it changed since. Nothing was appended to it.`,
    'repair-gone': () => 'That preview is no longer there.',
    'repair-io': (a) => `${one(a)} could not be read or written.`,
  },
  'zh-CN': {
    'no-file': (a) => `${one(a)} 不是文件夹之内的文件。`,
    climbs: (a) => `${one(a)} 会跳出文件夹。`,
    foreign: (a) => `${one(a)} 是另一种系统的路径。`,
    'not-below': (a) => `${one(a)} 既不在已打开的文件夹内，也不在日志的工作目录内。`,
    link: (a) => `${one(a)} 经过一个指向文件夹之外的符号链接。`,
    'own-place': (a) => `${one(a)} 位于 Chipdeck 自己的文件夹中。`,
    'too-wide': (a) => `${one(a)} 就在你的主目录或其上级目录中。确实需要时，请按名称打开该文件夹。`,
    'not-granted': (a) => `此文件夹中只允许写入一个文件，${one(a)} 不是它。`,
    'not-opened': (a) => `${one(a)} 尚未打开。`,
    'in-no-folder': (a) => `${one(a)} 不在任何已打开的文件夹内。`,
    elsewhere: (a) => `${one(a)} 位于别处。`,
    'nothing-known': () => '没有可写入的内容：那里的内容未知。',
    'folder-there': (a) => `${one(a)} 处是一个文件夹。`,
    'file-in-the-way': (a) => `${one(a)} 需要的文件夹处是一个文件。`,
    'special-file': (a) => `${one(a)} 是设备、套接字或管道。`,
    'link-loop': (a) => `${one(a)}：链接互相指向。`,
    'link-missing': (a) => `${one(a)}：链接途中缺少文件夹。`,
    'name-too-long': (a) => `${one(a)}：名称超出此文件系统允许的长度。`,
    'not-utf8': (a) => `${one(a)}：途中有名称不是 UTF-8。`,
    'same-file': (a) => `${one(a)} 与 ${two(a)} 是同一个文件。`,
    'plan-gone': () => '那份预览已过时。',
    'no-conflict': () => '没有这处冲突。',
    'no-place': () => '尚未选择位置。',
    unsettled: (a) => `须先选定 ${one(a)} 处冲突。`,
    'already-there': () => '无事可做：磁盘上已经如此。',
    'stale-hunk': () => '此块属于另一次比较。',
    moved: (a) => `没有写入任何内容：磁盘上 ${list(a, '、')} 已有变化。`,
    'moved-place': () => '该文本已不再适合放在那里。',
    'unknown-there': (a) => `日志没有显示 ${one(a)} 在该处的内容。`,
    'no-base': (a) => `${one(a)} 无法合并：日志不知道磁盘上的内容由何而来。`,
    'unknown-restore': () => '恢复记录中没有这一条。',
    'nothing-to-undo': () => '没有可撤销的操作。',
    'undone-already': () => '它已经被撤销。',
    'image-gone': (a) => `${one(a)} 的留存副本已不在。`,
    busy: () => '另一次恢复正在进行。',
    'broke-off': () => '先前的一次恢复中断，尚未能还原。',
    'put-back': (a) => `${one(a)} 无法写入；一切保持原样。`,
    broken: (a) => `${one(a)} 无法写入，${two(a)} 也未能还原；下次启动时会再试。`,
    io: () => '有文件无法读取或写入。',
    'no-chip': () => '这个碎片已不在。',
    'unsafe-id': () => '它的名称不能作为碎片文件夹中的文件。',
    'damaged-chip': () => '碎片已损坏。',
    'no-content': () => '此碎片没有内容。',
    'only-deleted': () => '只有被删除的文本才能放回。',
    'no-origin': () => '没有线索说明此碎片属于哪里。',
    'no-archive': () => '归档已关闭。',
    'chip-exists': () => '碎片文件夹中已有它。',
    'repair-foreign': () => '只有规范格式的日志可以更正；代理自己的日志从不写入。',
    'repair-torn': (a) => `${one(a)} 的最后一行没有换行：它可能仍在写入。没有追加任何内容。`,
    'repair-moved': (a) => `${one(a)} 与预览所示不同：此后有变化。没有向它追加任何内容。`,
    'repair-gone': () => '那次预览已不在。',
    'repair-io': (a) => `${one(a)} 无法读取或写入。`,
  },
};

const ERRORS: Record<Tongue, Record<Code<'errors'>, string>> = {
  en: {
    'not-found': 'It is no longer here.',
    'bad-request': 'That cannot be done.',
    precondition: 'Things have changed meanwhile.',
    'outside-root': 'It lies outside the opened folders.',
    'unknown-content': 'The content is not known.',
    conflict: 'There are conflicts to settle first.',
    'nothing-to-undo': 'There is nothing to undo.',
    cancelled: 'It was cancelled.',
    io: 'A file could not be read or written.',
    'host-only': 'Only the desktop window can do that.',
  },
  'zh-CN': {
    'not-found': '它已不在这里。',
    'bad-request': '无法这样做。',
    precondition: '情况已经变化。',
    'outside-root': '它位于已打开的文件夹之外。',
    'unknown-content': '内容未知。',
    conflict: '须先选定冲突。',
    'nothing-to-undo': '没有可撤销的操作。',
    cancelled: '已取消。',
    io: '有文件无法读取或写入。',
    'host-only': '只有桌面窗口能这样做。',
  },
};

const HINTS: Partial<Record<Code<'whys'>, string>> = {
  'plan-gone': '请再看一次预览。',
  moved: '请再看一次预览。',
  'stale-hunk': '请再看一次差异。',
  'moved-place': '请重新选择位置。',
  'no-place': '请选择一处。',
  'not-opened': '请打开该文件夹。',
  'not-below': '请打开其项目的文件夹。',
  'in-no-folder': '请打开其项目的文件夹。',
  'no-origin': '请打开其项目的文件夹。',
  climbs: '请打开其项目的文件夹。',
  'repair-torn': '请再看一次偏差。',
  'repair-moved': '请再看一次偏差。',
  'repair-gone': '请再看一次偏差。',
  foreign: '请打开其项目的文件夹。',
};

/** Whose detail says more than the sentence: what the system answered. */
const DETAILED: readonly Code<'whys'>[] = [
  'io',
  'broke-off',
  'put-back',
  'broken',
  'damaged-chip',
  'repair-io',
];

export type Fault = {
  code: string;
  message: string;
  hint?: string | null | undefined;
  why?: string | null | undefined;
  about?: readonly string[] | undefined;
};

export type Said = { text: string; detail: string | null; hint: string | null };

function isCode<T extends keyof typeof codes>(table: T, code: string | null | undefined): code is Code<T> {
  return (codes[table] as readonly string[]).includes(code ?? '');
}

/** A first letter that is large, unless the sentence begins with a name from a log. */
export function capital(text: string): string {
  return /^[a-z][a-z’']*(?:[ ,]|$)/u.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** One refusal in the language of the moment: the sentence, what the engine knows beyond it, and what to do. */
export function faultWords(fault: Fault): Said {
  const tongue = language.tongue;
  const hint = fault.hint ?? null;
  if (isCode('whys', fault.why)) {
    return {
      text: WHYS[tongue][fault.why](fault.about ?? []),
      detail: DETAILED.includes(fault.why) ? capital(fault.message) : null,
      hint: tongue === 'en' ? hint : hint === null ? null : (HINTS[fault.why] ?? null),
    };
  }
  // Only the code is known: in English the engine's sentence says it best.
  if (tongue === 'en' || !isCode('errors', fault.code))
    return { text: capital(fault.message), detail: null, hint };
  return { text: ERRORS[tongue][fault.code], detail: capital(fault.message), hint: null };
}

/** Sentence and detail in one, where there is room for one line only. */
export function faultLine(fault: Fault): string {
  const said = faultWords(fault);
  return said.detail ? `${said.text} ${said.detail}` : said.text;
}

/** What opening a folder would mend. */
const UNOPENED: readonly string[] = [
  'not-below',
  'in-no-folder',
  'elsewhere',
  'not-opened',
  'foreign',
  'climbs',
];

export function opensFolder(need: { why?: string | undefined }): boolean {
  return UNOPENED.includes(need.why ?? '');
}

/** Why a plan is refused; `short` names the file without its folders, where there is little room. */
export function refusedWords(need: { reason: string; why?: string; path?: string }, short = false): string {
  if (short && need.path !== undefined)
    return refusedWords({ ...need, path: need.path.split(/[\\/]/u).at(-1) ?? need.path });
  return faultLine({
    code: 'outside-root',
    message: need.reason,
    why: need.why,
    about: need.path === undefined ? [] : [need.path],
  });
}

export const refusalTables = { whys: WHYS, errors: ERRORS };
