/** Names of events by their type, and of outcomes, for people; the type itself stays beside them. */
import type { Code } from '../../api/codes';
import { language, type Tongue } from '../language.svelte';

const EVENTS: Record<Tongue, Record<Code<'events'>, string>> = {
  en: {
    'session.start': 'Session begins',
    'session.end': 'Session ends',
    'message.user': 'User says',
    'message.assistant': 'Assistant says',
    'message.system': 'System says',
    'message.toolResult': 'Outcome, as told',
    'message.correction': 'Correction',
    'context.compact': 'Context compacted',
    'tool.call': 'Tool call',
    'tool.result': 'Tool result',
    'file.create': 'File created',
    'file.change': 'File changed',
    'file.delete': 'File deleted',
    'file.rename': 'File renamed',
    'file.observe': 'File seen',
    'chip.save': 'Chip saved',
    'chip.evict': 'Chip evicted',
    'chip.insert': 'Chip inserted',
    'memory.add': 'Memory added',
    'memory.move': 'Memory moved',
    'memory.remove': 'Memory removed',
    'memory.restore': 'Memory restored',
    'plan.create': 'Plan proposed',
    'plan.review': 'Plan reviewed',
    'context.load': 'Context loaded',
    'state.snapshot': 'Whole state',
    'restore.apply': 'Restore',
  },
  'zh-CN': {
    'session.start': '会话开始',
    'session.end': '会话结束',
    'message.user': '用户发言',
    'message.assistant': '助手发言',
    'message.system': '系统发言',
    'message.toolResult': '转述的结果',
    'message.correction': '更正',
    'context.compact': '上下文压缩',
    'tool.call': '工具调用',
    'tool.result': '工具结果',
    'file.create': '新建文件',
    'file.change': '改动文件',
    'file.delete': '删除文件',
    'file.rename': '重命名文件',
    'file.observe': '看到文件',
    'chip.save': '保存碎片',
    'chip.evict': '挤出碎片',
    'chip.insert': '插入碎片',
    'memory.add': '加入记忆',
    'memory.move': '移动记忆',
    'memory.remove': '移除记忆',
    'memory.restore': '恢复记忆',
    'plan.create': '提出计划',
    'plan.review': '审阅计划',
    'context.load': '载入上下文',
    'state.snapshot': '完整状态',
    'restore.apply': '恢复',
  },
};

/** `tool.call` → “Tool call”; null for a type that the catalogue doesn't have. */
export function kindName(kind: string): string | null {
  return (EVENTS[language.tongue] as Record<string, string>)[kind] ?? null;
}

const STATUSES: Record<Tongue, Record<Code<'statuses'>, string>> = {
  en: {
    ok: 'ok',
    error: 'error',
    denied: 'denied',
    cancelled: 'cancelled',
    timeout: 'timed out',
    pending: 'running',
    interrupted: 'interrupted',
  },
  'zh-CN': {
    ok: '成功',
    error: '错误',
    denied: '被拒绝',
    cancelled: '已取消',
    timeout: '超时',
    pending: '运行中',
    interrupted: '中断',
  },
};

/** Outcome of a call; an unknown one is shown as it is. */
export function statusName(status: string): string {
  return (STATUSES[language.tongue] as Record<string, string>)[status] ?? status;
}

export const statusTable = STATUSES;
export const eventTable = EVENTS;
