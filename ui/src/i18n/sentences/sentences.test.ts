import { afterEach, describe, expect, it } from 'vitest';
import type { HistoryRow, PlanView } from '../../api';
import { codes, type Code } from '../../api/codes';
import { language } from '../language.svelte';
import {
  deedWords,
  eventTable,
  faultWords,
  findingDetail,
  findingTable,
  findingWords,
  planWords,
  refusalTables,
  restoreTables,
  rowTable,
  rowWords,
  statusTable,
  targetWords,
  warningWords,
} from '.';

const TONGUES = ['en', 'zh-CN'] as const;
const tables: Partial<Record<keyof typeof codes, Record<string, Record<string, unknown>>>> = {
  findings: findingTable,
  events: eventTable,
  statuses: statusTable,
  ...refusalTables,
  ...restoreTables,
};
const HAN = /\p{Script=Han}/u;
const finding = (code: string) => ({
  code,
  message: 'what the engine says',
  eventId: 'e1',
  path: 'src/a.rs',
  callId: 'c1',
  dialogue: 'ok',
  execution: null,
});

afterEach(() => {
  language.tongue = 'en';
});

describe('every code of the engine', () => {
  it.each(Object.keys(codes) as (keyof typeof codes)[])(
    'of the table %s has words in both languages',
    (name) => {
      for (const tongue of TONGUES) {
        const table = tables[name]?.[tongue];
        expect(Object.keys(table ?? {}).sort(), tongue).toEqual([...codes[name]].sort());
      }
    },
  );

  it('is a sentence: a capital or a name first, a stop last, and Chinese in Chinese', () => {
    for (const tongue of TONGUES) {
      language.tongue = tongue;
      for (const code of codes.findings) {
        const said = findingWords(finding(code));
        expect(said, code).toMatch(tongue === 'en' ? /^(?:[A-Z]|src\/a\.rs).*\.$/ : /。$/);
        expect(HAN.test(said), code).toBe(tongue === 'zh-CN');
      }
      for (const why of codes.whys) {
        const said = faultWords({ code: 'io', message: 'x', why, about: ['src/a.rs', 'b.rs'] }).text;
        expect(said, why).toMatch(tongue === 'en' ? /^(?:[A-Z]|src\/a\.rs).*\.$/ : /。$/);
        expect(HAN.test(said), why).toBe(tongue === 'zh-CN');
      }
    }
  });
});

describe('what is said', () => {
  it('names what the refusal names, and keeps what only the system knows', () => {
    language.tongue = 'zh-CN';
    expect(faultWords({ code: 'outside-root', message: 'x', why: 'climbs', about: ['../a'] })).toEqual({
      text: '../a 会跳出文件夹。',
      detail: null,
      hint: null,
    });
    const io = faultWords({ code: 'io', message: 'no space left on device', why: 'io' });
    expect(io.detail).toBe('No space left on device');
    expect(faultWords({ code: 'not-found', message: 'there is no entry 9.' })).toMatchObject({
      text: '它已不在这里。',
      detail: 'There is no entry 9.',
    });
  });

  it('begins with a capital, even where the engine did not', () => {
    expect(faultWords({ code: 'nothing-to-undo', message: 'there is nothing to undo.' }).text).toBe(
      'There is nothing to undo.',
    );
    expect(faultWords({ code: 'io', message: 'price.py cannot be read.' }).text).toBe(
      'price.py cannot be read.',
    );
  });

  it("gives the engine's own words beside a finding only where they add something", () => {
    const row = finding('not-json');
    expect(findingDetail(row)).toBe('What the engine says');
    expect(findingDetail({ ...row, message: 'the line is not JSON' })).toBeNull();
    expect(findingWords({ ...row, code: 'of-a-newer-engine' })).toBe('What the engine says');
    expect(findingDetail({ ...row, code: 'of-a-newer-engine' })).toBeNull();
  });

  it('tells a restore, its undo and the undo of that apart', () => {
    const row = (deed: Code<'deeds'>) => ({ deed, label: '3 files', summary: 'x' }) as HistoryRow;
    expect(codes.deeds.map((deed) => deedWords(row(deed)))).toEqual([
      'Restored 3 files',
      'Took back 3 files',
      'Restored again 3 files',
    ]);
    language.tongue = 'zh-CN';
    expect(deedWords(row('restored-again'))).toBe('已重新恢复 3 个文件');
    expect(targetWords('a.py:30')).toBe('a.py:30');
  });

  it('promises what is lost, in both languages', () => {
    const plan = (added: number, removed: number) =>
      ({
        summary: 'x',
        from: { kind: 'event', at: 4211 },
        nothing: false,
        needs: null,
        steps: [{ path: 'a.py', action: 'replace', diff: { added, removed } }],
      }) as unknown as PlanView;
    expect(planWords(plan(3, 0))).toBe('Puts 3 lines from event 4,211 into a.py. Nothing is overwritten.');
    expect(planWords(plan(3, 1))).toBe(
      'Puts 3 lines from event 4,211 into a.py. 1 line on disk is replaced; Undo brings it back.',
    );
    expect(planWords(plan(0, 2))).toBe(
      'Takes 2 lines out of a.py, as in event 4,211. Undo brings them back.',
    );
    language.tongue = 'zh-CN';
    expect(planWords(plan(3, 1))).toBe('把事件 4,211 的 3 行放入 a.py。磁盘上 1 行会被替换；撤销可取回。');
  });

  it('says an entry in the language of the moment, and leaves the log its own words', () => {
    const row = {
      summary: 'be-write error, 38 ms: no such file',
      says: { code: 'outcome', tool: 'be-write', status: 'error', ms: 38, text: 'no such file' },
    } as const;
    expect(rowWords(row)).toBe('be-write error, 38 ms: no such file');
    language.tongue = 'zh-CN';
    expect(rowWords(row)).toBe('be-write 错误，38 毫秒：no such file');
    expect(rowWords({ summary: 'a message' })).toBe('a message');
    expect(Object.keys(rowTable.en).sort()).toEqual(Object.keys(rowTable['zh-CN']).sort());
  });

  it('warns by what differs', () => {
    const warning = { code: 'disk-differs', why: 'gone', path: 'a.py', message: 'm' };
    expect(warningWords(warning)).toBe("a.py: it is gone from the disk, the log doesn't show why.");
    language.tongue = 'zh-CN';
    expect(warningWords(warning)).toBe('a.py：磁盘上已没有它，日志未说明原因。');
    expect(warningWords({ code: 'of-a-newer-engine', message: 'something else' })).toBe('Something else');
  });
});
