/** A session's row in words: the agent's name, when it ran and for how long. */
import type { SessionLine, SourceRow } from '../../api';
import { format } from '../../i18n';
import { words } from './words';

const AGENTS = new Map([
  ['aider', 'Aider'],
  ['amp', 'Amp'],
  ['canonical', 'Event log'],
  ['claude-code', 'Claude Code'],
  ['cline', 'Cline'],
  ['codex', 'Codex'],
  ['copilot-cli', 'Copilot CLI'],
  ['droid', 'Droid'],
  ['gemini', 'Gemini CLI'],
  ['goose', 'Goose'],
  ['kimi', 'Kimi'],
  ['opencode', 'OpenCode'],
  ['openhands', 'OpenHands'],
  ['pi', 'pi'],
  ['qwen', 'Qwen Code'],
  ['raw', 'JSON Lines'],
  ['roo-code', 'Roo Code'],
  ['swe-agent', 'SWE-agent'],
]);

/** A name for people; one that is not known stays as it is. */
export const agentName = (format: string) => AGENTS.get(format) ?? format;

const MINUTE = 60_000;

/** `10 May, 10:00–10:30` (a day alone where it lasted over midnight), or the time of the file. */
export function when(row: SourceRow, now = Date.now()): string {
  const { started, ended } = row;
  if (started === null || ended === null)
    return row.modified === null
      ? ''
      : `${format.day(row.modified, now)}${format.comma()}${format.clock(row.modified, 'm')}`;
  const from = `${format.day(started, now)}${format.comma()}${format.clock(started, 'm')}`;
  if (ended - started < MINUTE) return from;
  const sameDay = new Date(started).toDateString() === new Date(ended).toDateString();
  if (sameDay) return `${from}–${format.clock(ended, 'm')}`;
  return `${format.day(started, now)} – ${format.day(ended, now)}`;
}

/** How long it lasted; empty under a minute. */
export function lasted(row: SourceRow): string {
  if (row.started === null || row.ended === null || row.ended - row.started < MINUTE) return '';
  const span = Math.round((row.ended - row.started) / MINUTE) * MINUTE;
  // Whole minutes: seconds say nothing here.
  return format.span(span).replace(/ 00 (s|秒)$/u, '');
}

export const isYoung = (ms: number, now: number) => now - ms < MINUTE;

/** `4 min ago`. */
export function age(ms: number | null, now: number): string {
  if (ms === null) return '';
  return isYoung(ms, now) ? words.now : words.ago(format.age(ms, now));
}

/** The head of a group of days: a name, or a month. */
export function dayName(day: string): string {
  if (day === 'today') return words.today;
  if (day === 'yesterday') return words.yesterday;
  if (day === 'week') return words.week;
  const [year, month] = day.split('-').map(Number);
  if (!year || !month) return words.never;
  return format.month(new Date(year, month - 1, 1).getTime());
}

/** Names a line whatever its index. */
export const lineName = (line: SessionLine | undefined) =>
  line === undefined ? undefined : line.kind === 'head' ? `# ${line.key}` : line.row.source;

/** The line that was chosen, looked for around where it stood. */
export function found(
  name: string | null,
  near: number,
  line: (index: number) => SessionLine | undefined,
  total: number,
): number | null {
  if (name === null) return null;
  for (let by = 0; by <= 300; by++)
    for (const at of by === 0 ? [near] : [near + by, near - by])
      if (at >= 0 && at < total && lineName(line(at)) === name) return at;
  return near < total ? near : null;
}

/** All of a row for a screen reader. */
export function spoken(row: SourceRow, now: number): string {
  const counts = row.counts;
  return [
    row.title,
    agentName(row.format),
    row.project ?? '',
    row.live ? words.live : '',
    row.log !== null ? words.open : '',
    when(row, now),
    lasted(row),
    counts ? words.files(counts.files, format.count(counts.files)) : words.notCounted,
    counts
      ? counts.errors > 0
        ? words.errors(counts.errors, format.count(counts.errors))
        : words.noErrors
      : '',
    row.parts > 0 ? words.parts(row.parts, format.count(row.parts)) : '',
    format.bytes(row.bytes),
    age(row.modified, now),
  ]
    .filter(Boolean)
    .join(', ');
}
