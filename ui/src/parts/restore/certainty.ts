// How sure a chip's origin is, as the glyphs and words of the window.
import { dictionary } from '../../i18n';

export const originWords = dictionary(
  {
    snapshot: 'snapshot',
    snapshotWhy: 'an edit snapshot of the same delete names the file',
    log: 'log',
    logWhy: 'an open log has the same call',
    search: 'found by text',
    searchWhy: 'the same text or its surroundings were found in an opened folder',
    arguments: 'arguments',
    argumentsWhy: 'the call itself names the file',
    chosen: 'chosen',
    chosenWhy: 'you chose this place',
    unknown: 'unknown',
  },
  {
    snapshot: '快照',
    snapshotWhy: '同一次删除的编辑快照写明了文件',
    log: '日志',
    logWhy: '打开的日志中有同一次调用',
    search: '按文本找到',
    searchWhy: '在已打开的文件夹中找到了相同的文本或其上下文',
    arguments: '参数',
    argumentsWhy: '调用本身写明了文件',
    chosen: '已选择',
    chosenWhy: '由您选择的位置',
    unknown: '未知',
  },
);

/** Glyph (`exact`, `unverified`, `unknown`), word and explanation. */
export function certaintyOf(origin: string): { value: string; word: string; why: string } {
  switch (origin) {
    case 'snapshot':
      return { value: 'exact', word: originWords.snapshot, why: originWords.snapshotWhy };
    case 'log':
      return { value: 'exact', word: originWords.log, why: originWords.logWhy };
    case 'arguments':
      return { value: 'exact', word: originWords.arguments, why: originWords.argumentsWhy };
    case 'chosen':
      return { value: 'exact', word: originWords.chosen, why: originWords.chosenWhy };
    case 'search':
      return { value: 'unverified', word: originWords.search, why: originWords.searchWhy };
    default:
      return { value: 'unknown', word: originWords.unknown, why: '' };
  }
}
