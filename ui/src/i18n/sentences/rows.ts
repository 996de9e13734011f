/** One line of an entry, where it is more than the log's own text: said from its parts. */
import type { EntryRow, RowSays } from '../../api';
import * as format from '../format';
import { language, type Tongue } from '../language.svelte';
import { statusName } from './kinds';

type Code = RowSays['code'];
type Says = { [C in Code]: (says: Extract<RowSays, { code: C }>) => string };

const tail = (text: string, colon: string) => (text === '' ? '' : `${colon}${text}`);
const ZONES: Record<string, string> = { hot: '热区', warm: '温区', cold: '冷区' };
const zone = (name: string) => ZONES[name] ?? name;
const lines = (n: number) => (n === 1 ? '1 line' : `${format.count(n)} lines`);
const head = (tool: string) => (tool === '' ? '' : `${tool} `);

const ROWS: Record<Tongue, Says> = {
  en: {
    lines: (s) => `${s.path}, ${lines(s.count)}`,
    edits: (s) => `${s.path}, ${s.count === 1 ? '1 edit' : `${format.count(s.count)} edits`}`,
    patch: (s) => `${s.path}, a patch`,
    seen: (s) => `${s.path}, ${s.whole ? 'seen whole' : 'seen'}`,
    'session-ended': () => 'the session ended',
    outcome: (s) =>
      `${head(s.tool)}${statusName(s.status)}${s.ms === null ? '' : `, ${format.span(s.ms)}`}${tail(s.text, ': ')}`,
    corrects: (s) => `corrects ${s.id}: ${statusName(s.status)}`,
    'into-zone': (s) => `${s.id} into ${s.zone}${tail(s.text, ': ')}`,
    'to-zone': (s) => `${s.id} to ${s.zone}`,
    reviewed: (s) => `${s.plan} ${s.approved ? 'approved' : 'rejected'}`,
    tokens: (s) => `${s.plan === '' ? '' : `${s.plan}: `}${format.count(s.count)} tokens`,
    'whole-state': (s) => `the whole state, ${s.files === 1 ? '1 file' : `${format.count(s.files)} files`}`,
    'undo-of': (s) => `${s.path}: undo of ${s.restore}`,
  },
  'zh-CN': {
    lines: (s) => `${s.path}，${format.count(s.count)} 行`,
    edits: (s) => `${s.path}，${format.count(s.count)} 处编辑`,
    patch: (s) => `${s.path}，一个补丁`,
    seen: (s) => `${s.path}，${s.whole ? '看到全文' : '看到'}`,
    'session-ended': () => '会话结束',
    outcome: (s) =>
      `${head(s.tool)}${statusName(s.status)}${s.ms === null ? '' : `，${format.span(s.ms)}`}${tail(s.text, '：')}`,
    corrects: (s) => `更正 ${s.id}：${statusName(s.status)}`,
    'into-zone': (s) => `${s.id} 进入${zone(s.zone)}${tail(s.text, '：')}`,
    'to-zone': (s) => `${s.id} 移到${zone(s.zone)}`,
    reviewed: (s) => `${s.plan} ${s.approved ? '已批准' : '已拒绝'}`,
    tokens: (s) => `${s.plan === '' ? '' : `${s.plan}：`}${format.count(s.count)} 个词元`,
    'whole-state': (s) => `完整状态，${format.count(s.files)} 个文件`,
    'undo-of': (s) => `${s.path}：撤销 ${s.restore}`,
  },
};

/** The line of an entry in the language of the moment; what is the log's own stays as it is. */
export function rowWords(row: Pick<EntryRow, 'summary' | 'says'>): string {
  const { says } = row;
  if (!says) return row.summary;
  const say = (ROWS[language.tongue] as Record<string, ((says: RowSays) => string) | undefined>)[says.code];
  return say?.(says) ?? row.summary;
}

export const rowTable = ROWS;
