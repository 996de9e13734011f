/** What each finding means, by its code and what it names. The engine's own English adds what only it knows. */
import { codes, type Code } from '../../api/codes';
import type { FindingRow } from '../../api';
import { language, type Tongue } from '../language.svelte';
import { capital } from './refusals';

type Row = Pick<FindingRow, 'code' | 'message' | 'eventId' | 'path' | 'callId' | 'dialogue' | 'execution'>;
type Say = (row: Row) => string;
const file = (row: Row, otherwise: string) => row.path ?? otherwise;
/** A path in a Chinese sentence, with its blanks; without one, any file. */
const one = (row: Row) => (row.path === null ? '有文件' : `${row.path} `);
const of = (row: Row, before = '') =>
  row.path === null ? `${before}一个文件` : `${before}${before ? ' ' : ''}${row.path} `;
const call = (row: Row) => row.callId ?? row.eventId ?? '?';

const WORDS: Record<Tongue, Record<Code<'findings'>, Say>> = {
  en: {
    'torn-line': () => 'The last line has no end.',
    'not-json': () => 'The line is not JSON.',
    'not-an-object': () => 'The line is JSON, but not an object.',
    'missing-field': () => 'A required field is missing or of a wrong type.',
    'bad-payload': () => 'The payload is not as its type wants it; the event changes nothing.',
    'conflicting-duplicate': () =>
      'An event of the same id came before and is not equal; this one is ignored.',
    'edit-failed': (r) =>
      `An edit of ${file(r, 'a file')} does not fit; the content stays and is unverified.`,
    'hash-mismatch': (r) => `The content of ${file(r, 'a file')} has not the hash that the log gives.`,
    'blob-missing': () => 'A large text of this event is missing or has another hash.',
    'handler-timeout': () => 'Folding this event took too long; it was skipped.',
    'not-idempotent': () => 'Applied twice, this event gave another state than once.',
    'drift-unsupported-success': (r) =>
      r.execution === null
        ? `The dialogue says that call ${call(r)} succeeded; the execution has no result of it.`
        : `The dialogue says that call ${call(r)} succeeded; the execution says otherwise.`,
    'ambiguous-order': () => 'Files tie on the time that orders them; their order is a guess.',
    'missing-seq': () => 'Events have no sequence number.',
    'seq-regress': () => 'The sequence number goes back or comes twice.',
    'parent-missing': () => 'The event that caused this one is not in the log.',
    'parent-later': () => 'The event that caused this one comes later.',
    'change-on-missing': (r) => `${file(r, 'A file')} is changed, but the log never showed it.`,
    'create-on-existing': (r) => `${file(r, 'A file')} is created, but is there already.`,
    'delete-on-missing': (r) => `${file(r, 'A file')} is deleted, but is not there.`,
    'unknown-version': () => 'This version of the event is not known; it changes nothing.',
    'drift-unsupported-failure': (r) =>
      `The dialogue says that call ${call(r)} failed; the execution says that it succeeded.`,
    'result-without-call': () => 'A result without a call.',
    'call-without-result': () => 'A call without a result.',
    'bad-field': () => 'An optional field is of a wrong type and counts as absent.',
    'unknown-id': () => 'An id that is not there is named; nothing changes.',
    'clock-regress': () => 'The clock goes back.',
    'unknown-type': () => 'The type is not known; the event stays on the timeline.',
    'duplicate-event': () => 'The same event came before; this one is ignored.',
    'glued-line': () => 'Two events stand on one line.',
    'foreign-log': () => 'This is no known format; each line stands for itself.',
  },
  'zh-CN': {
    'torn-line': () => '最后一行没有结束。',
    'not-json': () => '此行不是 JSON。',
    'not-an-object': () => '此行是 JSON，但不是对象。',
    'missing-field': () => '缺少必需字段，或其类型不对。',
    'bad-payload': () => '内容与其类型的要求不符；此事件不改变任何状态。',
    'conflicting-duplicate': () => '先前已有相同编号但内容不同的事件；此事件被忽略。',
    'edit-failed': (r) => `${of(r, '对')}的一处编辑不吻合；内容保持不变，改为未证实。`,
    'hash-mismatch': (r) => `${of(r)}的内容与日志给出的哈希不符。`,
    'blob-missing': () => '此事件的一段大文本缺失，或哈希不符。',
    'handler-timeout': () => '处理此事件用时过长，已跳过。',
    'not-idempotent': () => '此事件应用两次与一次的结果不同。',
    'drift-unsupported-success': (r) =>
      r.execution === null
        ? `对话称调用 ${call(r)} 成功；执行记录中没有它的结果。`
        : `对话称调用 ${call(r)} 成功；执行记录并非如此。`,
    'ambiguous-order': () => '多个文件的排序时间相同；先后顺序只是推测。',
    'missing-seq': () => '事件没有序号。',
    'seq-regress': () => '序号后退或重复。',
    'parent-missing': () => '引发此事件的事件不在日志中。',
    'parent-later': () => '引发此事件的事件出现在后面。',
    'change-on-missing': (r) => `${one(r)}被改动，但日志从未显示过它。`,
    'create-on-existing': (r) => `${one(r)}被新建，但它已存在。`,
    'delete-on-missing': (r) => `${one(r)}被删除，但它并不存在。`,
    'unknown-version': () => '此事件的版本未知；它不改变任何状态。',
    'drift-unsupported-failure': (r) => `对话称调用 ${call(r)} 失败；执行记录称其成功。`,
    'result-without-call': () => '有结果而没有调用。',
    'call-without-result': () => '有调用而没有结果。',
    'bad-field': () => '一个可选字段类型不对，按缺失处理。',
    'unknown-id': () => '提到的编号不存在；不改变任何状态。',
    'clock-regress': () => '时钟后退。',
    'unknown-type': () => '类型未知；事件仍留在时间线上。',
    'duplicate-event': () => '先前已有相同的事件；此事件被忽略。',
    'glued-line': () => '两个事件写在同一行。',
    'foreign-log': () => '不是已知格式；每行自成一条。',
  },
};

/** The sentence of a finding; an unknown code says it in the engine's words. */
export function findingWords(row: Row): string {
  const say = WORDS[language.tongue][row.code as Code<'findings'>] as Say | undefined;
  return say ? say(row) : capital(row.message);
}

/** The engine's sentence, where it adds to ours. */
export function findingDetail(row: Row): string | null {
  if (!(codes.findings as readonly string[]).includes(row.code)) return null;
  const own = capital(row.message);
  const bare = (text: string) => text.toLowerCase().replace(/[\s.]+$/u, '');
  return bare(own) === bare(findingWords(row)) ? null : own;
}

export const findingTable = WORDS;
