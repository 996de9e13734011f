/** What an edit does, for people; lines of a `.jsonl` as events to insert. Pure. */
import type { BranchEdit, JsonValue, PayloadFaultRow } from '../../api';
import { format } from '../../i18n';
import { words } from './words';

/** Events that are inserted at once at most. */
export const MOST_INSERTED = 500;

export function editWords(edit: BranchEdit, titleOf: (log: string) => string): string {
  const n = format.count;
  switch (edit.kind) {
    case 'skip':
      return words.didSkip(n(edit.index));
    case 'replace':
      return words.didEdit(n(edit.index));
    case 'insert':
      return words.didInsert(edit.eventType, n(edit.after));
    case 'cut':
      return edit.then === null
        ? words.didCut(n(edit.at))
        : words.didCutThen(n(edit.at), titleOf(edit.then.log), n(edit.then.from));
  }
}

export function faultWords(fault: PayloadFaultRow): string {
  switch (fault.what) {
    case 'missing':
      return words.missing;
    case 'kind':
      return words.kindFault(words.kinds(fault.expected));
    case 'choice':
      return words.choiceFault(fault.expected);
    case 'together':
      return words.togetherFault(fault.expected);
    case 'json':
      return words.jsonFault(fault.message);
    default:
      return fault.message;
  }
}

export type NewEvent = {
  line: number;
  eventType: string;
  payload: JsonValue;
  eventId: string | null;
  parentEventId: string | null;
  correlationId: string | null;
  timestamp: number | null;
};
export type Read = { events: NewEvent[]; fault: { line: number; what: string } | null };

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
function time(value: unknown): number | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  const parsed = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(parsed) ? null : parsed;
}

/** Events of a `.jsonl`, one a line; the first line that is none stops it. */
export function readEvents(source: string): Read {
  const events: NewEvent[] = [];
  const lines = source.replace(/^\uFEFF/u, '').split('\n');
  for (const [i, raw] of lines.entries()) {
    if (raw.trim() === '') continue;
    const line = i + 1;
    let record: unknown;
    try {
      record = JSON.parse(raw);
    } catch (thrown) {
      return {
        events,
        fault: { line, what: words.jsonFault(thrown instanceof Error ? thrown.message : '') },
      };
    }
    const one =
      typeof record === 'object' && record !== null && !Array.isArray(record)
        ? (record as Record<string, unknown>)
        : {};
    const eventType = text(one['type']);
    if (eventType === null) return { events, fault: { line, what: words.needsType } };
    events.push({
      line,
      eventType,
      payload: (one['payload'] ?? {}) as JsonValue,
      eventId: text(one['eventId']),
      parentEventId: text(one['parentEventId']),
      correlationId: text(one['correlationId']),
      timestamp: time(one['timestamp']),
    });
    if (events.length > MOST_INSERTED)
      return { events, fault: { line, what: words.tooMany(format.count(MOST_INSERTED)) } };
  }
  return { events, fault: null };
}

export const pointerOf = (before: string, name: string | number) =>
  `${before}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
