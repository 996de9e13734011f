// How a status, a severity and a kind of entry look and are called: a shape, a tone and a word each.
import { kindName, statusName } from '../../i18n/sentences';
import type { IconName } from '../../kit';
import { words } from './words';

export type Tone = 'ok' | 'error' | 'warn' | 'quiet';

export interface Sign {
  icon: IconName;
  tone: Tone;
  word: string;
}

/** Of a tool call or result. An unknown status is shown as it is. */
export function statusSign(status: string): Sign {
  const word = statusName(status);
  switch (status) {
    case 'ok':
      return { icon: 'check', tone: 'ok', word };
    case 'error':
      return { icon: 'err', tone: 'error', word };
    case 'denied':
      return { icon: 'ban', tone: 'error', word };
    case 'timeout':
      return { icon: 'clock', tone: 'error', word };
    case 'cancelled':
      return { icon: 'x', tone: 'quiet', word };
    case 'interrupted':
      return { icon: 'warn', tone: 'warn', word };
    case 'pending':
      return { icon: 'more', tone: 'quiet', word };
    default:
      return { icon: 'info', tone: 'quiet', word };
  }
}

export function severitySign(severity: string): Sign {
  switch (severity) {
    case 'error':
      return { icon: 'err', tone: 'error', word: words.severityError };
    case 'warning':
      return { icon: 'warn', tone: 'warn', word: words.severityWarning };
    default:
      return { icon: 'info', tone: 'quiet', word: words.severityInfo };
  }
}

/** Of an entry by its type: `tool.call`, `message.user`, … */
export function kindIcon(kind: string): IconName {
  const family = kind.split('.')[0];
  switch (family) {
    case 'tool':
      return 'term';
    case 'message':
    case 'dialogue':
      return 'msg';
    case 'file':
      return 'file';
    case 'chip':
      return 'chip';
    case 'memory':
      return 'db';
    case 'plan':
      return 'flag';
    case 'branch':
      return 'branch';
    case 'correction':
      return 'edit';
    case 'opaque':
      return 'filex';
    default:
      return 'log';
  }
}

/** `tool.call` → “Tool call”; a type that is not known is shown as it is. */
export function kindWord(kind: string): string {
  return kind === 'opaque' ? words.opaque : (kindName(kind) ?? kind);
}

/** Who speaks. An unknown role is shown as it is. */
export function roleWord(role: string): string {
  switch (role) {
    case 'user':
    case 'assistant':
    case 'system':
    case 'tool':
    case 'correction':
    case 'summary':
      return words[role];
    default:
      return role;
  }
}
