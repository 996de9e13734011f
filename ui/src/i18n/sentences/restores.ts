/** What a restore would do, what it warns of, what else a step changes, and what was done. */
import type { HistoryRow, PlanFrom, PlanView, Warning } from '../../api';
import type { Code } from '../../api/codes';
import * as format from '../format';
import { language, type Tongue } from '../language.svelte';
import { capital } from './refusals';

type Say = (warning: Warning) => string;
const file = (warning: Warning) => warning.path ?? '';
const many = (warning: Warning) => format.count(warning.count ?? 0);
const lines = (n: number) => (n === 1 ? '1 line' : `${format.count(n)} lines`);
const files = (n: number) => (n === 1 ? '1 file' : `${format.count(n)} files`);

const DIFFERS: Record<Tongue, Record<Code<'differs'>, Say>> = {
  en: {
    changed: (w) => `${file(w)}: the disk has changes that the log doesn't show.`,
    gone: (w) => `${file(w)}: it is gone from the disk, the log doesn't show why.`,
    unexpected: (w) => `${file(w)}: it is on the disk, the log's last state has no such file.`,
    'line-ends': (w) => `${file(w)}: the disk's own line ends or byte order mark are kept.`,
  },
  'zh-CN': {
    changed: (w) => `${file(w)}：磁盘上有日志未显示的改动。`,
    gone: (w) => `${file(w)}：磁盘上已没有它，日志未说明原因。`,
    unexpected: (w) => `${file(w)}：磁盘上有它，日志的最后状态中没有。`,
    'line-ends': (w) => `${file(w)}：保留磁盘上的换行符或字节顺序标记。`,
  },
};

const FORMS: Record<Tongue, Record<Code<'serverForms'>, Say>> = {
  en: {
    'line-ends': (w) =>
      `The server's own form: ${w.count === 1 ? '1 line end changes' : `${many(w)} line ends change`}.`,
    newline: () => "The server's own form: a last newline is added.",
    both: (w) =>
      `The server's own form: ${w.count === 1 ? '1 line end changes' : `${many(w)} line ends change`}, and a last newline is added.`,
  },
  'zh-CN': {
    'line-ends': (w) => `服务器自己的形式：${many(w)} 处换行符会改变。`,
    newline: () => '服务器自己的形式：末尾会添加换行。',
    both: (w) => `服务器自己的形式：${many(w)} 处换行符会改变，末尾会添加换行。`,
  },
};

const byWhy = (table: typeof DIFFERS | typeof FORMS, tongue: Tongue, warning: Warning) => {
  const say = (table[tongue] as Record<string, Say | undefined>)[warning.why ?? ''];
  return say?.(warning) ?? null;
};

const WARNINGS: Record<Tongue, Record<Code<'warnings'>, Say>> = {
  en: {
    'disk-differs': (w) => byWhy(DIFFERS, 'en', w) ?? `${file(w)}: the disk differs from what the log shows.`,
    'disk-unknown': (w) => `${file(w)}: the log doesn't know what is on the disk now.`,
    unverified: (w) => `${file(w)}: plausible, but not proven by the log.`,
    'unknown-content': (w) => `${file(w)}: the log doesn't show its content there; it is not written.`,
    'outside-root': (w) =>
      (w.count ?? 1) > 1
        ? `${file(w)} and ${format.count((w.count ?? 1) - 1)} more lie elsewhere and are not written.`
        : `${file(w)} lies elsewhere and is not written.`,
    'server-form': (w) => byWhy(FORMS, 'en', w) ?? "In the server's own form.",
    note: (w) => capital(w.message),
  },
  'zh-CN': {
    'disk-differs': (w) => byWhy(DIFFERS, 'zh-CN', w) ?? `${file(w)}：磁盘与日志所示不同。`,
    'disk-unknown': (w) => `${file(w)}：日志不知道磁盘上现在是什么。`,
    unverified: (w) => `${file(w)}：内容合理，但日志不能证实。`,
    'unknown-content': (w) => `${file(w)}：日志没有显示它在该处的内容，不会写入。`,
    'outside-root': (w) =>
      (w.count ?? 1) > 1
        ? `${file(w)} 等 ${many(w)} 个文件位于别处，不会写入。`
        : `${file(w)} 位于别处，不会写入。`,
    'server-form': (w) => byWhy(FORMS, 'zh-CN', w) ?? '采用服务器自己的形式。',
    note: (w) => w.message,
  },
};

/** A warning of a plan; one of a newer engine is said in its own words. */
export function warningWords(warning: Warning): string {
  const say = (WARNINGS[language.tongue] as Record<string, Say | undefined>)[warning.code];
  return (
    (warning.path === undefined && warning.code !== 'server-form' ? null : say?.(warning)) ??
    capital(warning.message)
  );
}

const NOTES: Record<Tongue, Record<Code<'notes'>, string>> = {
  en: {
    'line-endings': 'Its line ends change.',
    'final-newline': 'The newline at its end comes or goes.',
    'hard-link': 'It has other names by hard links; those keep the old content.',
    symlink: 'It is a symbolic link inside the folder: its target is written, the link stays.',
    'byte-order-mark': 'Its byte order mark comes or goes.',
    merged: 'What changed on the disk since is kept: both were merged.',
    'makes-folders': 'Folders that are missing are made; Undo takes them away again.',
    unverified: 'Something outside the log may have changed this content since.',
    'server-form': "In the server's own form, byte for byte.",
    'not-looked-at':
      'The file on disk is not looked at until you allow it: these are the lines that would be written.',
  },
  'zh-CN': {
    'line-endings': '换行符会改变。',
    'final-newline': '末尾的换行会增加或去掉。',
    'hard-link': '它还有硬链接的其他名称；那些保留旧内容。',
    symlink: '它是文件夹内的符号链接：写入其目标，链接保留。',
    'byte-order-mark': '字节顺序标记会增加或去掉。',
    merged: '磁盘上之后的改动会保留：两者已合并。',
    'makes-folders': '会新建缺少的文件夹；撤销时一并移除。',
    unverified: '日志之外可能有东西改过此内容。',
    'server-form': '采用服务器自己的形式，逐字节一致。',
    'not-looked-at': '在您允许之前不会查看磁盘上的文件：以下是将要写入的行。',
  },
};

/** What else a step changes. */
export function noteWords(note: string): string {
  return (NOTES[language.tongue] as Record<string, string>)[note] ?? note;
}

const ACTIONS: Record<Tongue, Record<Code<'actions'>, string>> = {
  en: { create: 'new', replace: 'changed', delete: 'deleted', none: 'there already' },
  'zh-CN': { create: '新建', replace: '修改', delete: '删除', none: '已是如此' },
};

/** What becomes of a file. */
export function actionWords(action: string): string {
  return (ACTIONS[language.tongue] as Record<string, string>)[action] ?? action;
}

const KINDS: Record<Tongue, Record<Code<'kinds'>, string>> = {
  en: {
    file: 'file',
    hunk: 'some lines',
    files: 'files',
    tree: 'whole tree',
    'undo-change': 'one change undone',
    chip: 'chip',
    'put-back': 'put back',
    'edit-snapshot': 'edit snapshot',
    undo: 'undo',
    rollback: 'put back after a failure',
  },
  'zh-CN': {
    file: '文件',
    hunk: '若干行',
    files: '多个文件',
    tree: '整个目录树',
    'undo-change': '撤销一次改动',
    chip: '碎片',
    'put-back': '放回',
    'edit-snapshot': '编辑快照',
    undo: '撤销',
    rollback: '失败后还原',
  },
};

/** What kind of restore it was. */
export function restoreKind(kind: string): string {
  return (KINDS[language.tongue] as Record<string, string>)[kind] ?? kind;
}

const DEEDS: Record<Tongue, Record<Code<'deeds'>, (what: string) => string>> = {
  en: {
    restored: (what) => `Restored ${what}`,
    'took-back': (what) => `Took back ${what}`,
    'restored-again': (what) => `Restored again ${what}`,
  },
  'zh-CN': {
    restored: (what) => `已恢复 ${what}`,
    'took-back': (what) => `已撤销 ${what}`,
    'restored-again': (what) => `已重新恢复 ${what}`,
  },
};

/** `3 files` of the engine's label, in the language of the moment; a name stays as it is. */
export function targetWords(label: string): string {
  const several = /^(\d+) files$/u.exec(label);
  if (!several || language.tongue === 'en') return label;
  return `${several[1] ?? ''} 个文件`;
}

/** What was done, for the toast and the history. */
export function deedWords(row: Pick<HistoryRow, 'deed' | 'label' | 'summary'>): string {
  const say = (DEEDS[language.tongue] as Record<string, ((what: string) => string) | undefined>)[row.deed];
  return say && row.label ? say(targetWords(row.label)) : row.summary;
}

function fromEn(from: PlanFrom): string {
  switch (from.kind) {
    case 'event':
      return from.at === 0 ? 'before the log' : `event ${format.count(from.at)}`;
    case 'before':
      return `before event ${format.count(from.index)}`;
    case 'chip':
      return `chip ${from.id}`;
    case 'editSnapshot':
      return `${from.before ? 'before' : 'after'} edit snapshot ${from.id}`;
    case 'version':
      return from.author === 'git'
        ? `commit ${from.id ?? ''}`
        : from.author === 'snapshot'
          ? `edit snapshot ${from.id ?? ''}`
          : `${from.name}${from.time === null ? '' : ` of ${format.moment(from.time)}`}`;
    case 'backup':
      return `the backup${from.time === null ? '' : ` of ${format.moment(from.time)}`}`;
    case 'backup':
      return `backup ${from.name}`;
    case 'version':
      if (from.author === 'disk') return 'the disk';
      if (from.author === 'git') return `commit ${from.id ?? from.name}`;
      if (from.author === 'snapshot') return `edit snapshot ${from.id ?? from.name}`;
      if (from.author === 'chip') return `chip ${from.id ?? from.name}`;
      return `session ${from.name}`;
  }
}
function fromZh(from: PlanFrom): string {
  switch (from.kind) {
    case 'event':
      return from.at === 0 ? '日志开始之前' : `事件 ${format.count(from.at)}`;
    case 'before':
      return `事件 ${format.count(from.index)} 之前`;
    case 'chip':
      return `碎片 ${from.id}`;
    case 'editSnapshot':
      return `编辑快照 ${from.id} ${from.before ? '之前' : '之后'}`;
    case 'version':
      return from.author === 'git'
        ? `提交 ${from.id ?? ''}`
        : from.author === 'snapshot'
          ? `编辑快照 ${from.id ?? ''}`
          : `${from.name}${from.time === null ? '' : `（${format.moment(from.time)}）`}`;
    case 'backup':
      return `备份${from.time === null ? '' : `（${format.moment(from.time)}）`}`;
    case 'backup':
      return `备份 ${from.name}`;
    case 'version':
      if (from.author === 'disk') return '磁盘';
      if (from.author === 'git') return `提交 ${from.id ?? from.name}`;
      if (from.author === 'snapshot') return `编辑快照 ${from.id ?? from.name}`;
      if (from.author === 'chip') return `碎片 ${from.id ?? from.name}`;
      return `会话 ${from.name}`;
  }
}

/** Where the content comes from. */
export function fromWords(from: PlanFrom): string {
  return language.tongue === 'en' ? fromEn(from) : fromZh(from);
}

/** What the plan puts where. */
export function planDoes(plan: PlanView): string {
  const from = plan.from;
  if (!from || plan.steps.length === 0) return plan.summary;
  const zh = language.tongue === 'zh-CN';
  const source = fromWords(from);
  const steps = plan.steps.filter((step) => step.action !== 'none');
  const [one, next] = steps;
  if (!one) return plan.summary;
  if (next) {
    const gone = steps.filter((step) => step.action === 'delete').length;
    if (zh)
      return `从${source}写入 ${format.count(steps.length)} 个文件${gone ? `，其中删除 ${format.count(gone)} 个` : ''}。`;
    return `Writes ${files(steps.length)} from ${source}${gone ? `, ${format.count(gone)} of them deleted` : ''}.`;
  }
  const { added, removed } = one.diff;
  switch (one.action) {
    case 'delete':
      return zh ? `删除 ${one.path}，与${source}一致。` : `Deletes ${one.path}, as in ${source}.`;
    case 'create':
      return zh
        ? `新建 ${one.path}，${format.count(added)} 行，来自${source}。`
        : `Writes ${one.path}, ${lines(added)} from ${source}.`;
    default:
      if (added === 0 && removed > 0)
        return zh
          ? `从 ${one.path} 去掉 ${format.count(removed)} 行，与${source}一致。`
          : `Takes ${lines(removed)} out of ${one.path}, as in ${source}.`;
      return zh
        ? `把${source} 的 ${format.count(added)} 行放入 ${one.path}。`
        : `Puts ${lines(added)} from ${source} into ${one.path}.`;
  }
}

/** What is lost by it, and that it comes back: the promise before the button. Null: nothing is known of the disk. */
export function planLoses(plan: PlanView): string | null {
  if (plan.nothing || plan.needs || plan.steps.length === 0) return null;
  const zh = language.tongue === 'zh-CN';
  const lost = plan.steps.reduce((n, step) => n + step.diff.removed, 0);
  const gained = plan.steps.reduce((n, step) => n + step.diff.added, 0);
  if (lost > 0 && gained === 0)
    return zh ? '撤销可取回。' : lost === 1 ? 'Undo brings it back.' : 'Undo brings them back.';
  if (lost === 0) return zh ? '不覆盖任何内容。' : 'Nothing is overwritten.';
  if (zh) return `磁盘上 ${format.count(lost)} 行会被替换；撤销可取回。`;
  return lost === 1
    ? '1 line on disk is replaced; Undo brings it back.'
    : `${format.count(lost)} lines on disk are replaced; Undo brings them back.`;
}

/** Both, in one sentence after the other. */
export function planWords(plan: PlanView): string {
  if (!plan.from || plan.steps.length === 0) return plan.summary;
  const does = planDoes(plan);
  const loses = planLoses(plan);
  if (loses === null) return does;
  return language.tongue === 'zh-CN' ? `${does}${loses}` : `${does} ${loses}`;
}

export const restoreTables = {
  differs: DIFFERS,
  serverForms: FORMS,
  warnings: WARNINGS,
  notes: NOTES,
  actions: ACTIONS,
  kinds: KINDS,
  deeds: DEEDS,
};
