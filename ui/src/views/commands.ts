/**
 * Everything that a key or the palette can do: one table. `keys` are names as `KeyboardEvent.key` gives them, with `mod`
 * for Ctrl (Command on a Mac); the first is the one that is shown. A `letter` works only while no text field has the focus,
 * and can be turned off.
 */
import { words } from '../i18n';
import {
  inquiry,
  lanes,
  library,
  overlay,
  player,
  restores,
  search,
  selection,
  settings,
  toasts,
  visible,
  whatif,
  type StageTab,
} from '../state';

export type Group = 'play' | 'find' | 'restore' | 'window' | 'timeline';
export type Command = {
  id: string;
  group: Group;
  name: () => string;
  keys: string[];
  letter?: boolean;
  /** Works without being listed in the palette. */
  hidden?: boolean;
  enabled?: () => boolean;
  run: () => void;
};

const onLog = () => player.ready && player.count > 0;
/** Only a log of the format itself can have branches; there has to be an event. */
const branchable = () => onLog() && player.log?.format === 'canonical' && player.at > 0;
const tab = (to: StageTab) => () => selection.show(to);
const onPath = () => onLog() && selection.path !== null;

const onEntry = () => onLog() && player.at > 0;

function traced(kind: 'trace' | 'operation') {
  void inquiry.showTracedHere(kind).then((there) => {
    if (!there) toasts.say('info', kind === 'trace' ? words.traceNone : words.operationNone);
  });
}

function change(forward: boolean) {
  const path = selection.path;
  if (path !== null) void player.step({ kind: 'fileChange', path }, forward);
}

/** Alt and a digit: the tabs as they stand, then the places of the side. */
export const COMMANDS: readonly Command[] = [
  {
    id: 'play',
    group: 'play',
    name: () => words.playPause,
    keys: ['Space'],
    enabled: onLog,
    run: () => player.toggle(),
  },
  {
    id: 'forward',
    group: 'play',
    name: () => words.oneOn,
    keys: ['ArrowRight'],
    enabled: onLog,
    run: player.forward,
  },
  {
    id: 'back',
    group: 'play',
    name: () => words.oneBack,
    keys: ['ArrowLeft'],
    enabled: onLog,
    run: player.back,
  },
  {
    id: 'tool-forward',
    group: 'play',
    name: () => words.toolOn,
    keys: ['Shift+ArrowRight'],
    enabled: onLog,
    run: () => void player.step({ kind: 'toolCall' }, true),
  },
  {
    id: 'tool-back',
    group: 'play',
    name: () => words.toolBack,
    keys: ['Shift+ArrowLeft'],
    enabled: onLog,
    run: () => void player.step({ kind: 'toolCall' }, false),
  },
  {
    id: 'change-forward',
    group: 'play',
    name: () => words.changeOn,
    keys: ['Alt+ArrowRight'],
    enabled: onPath,
    run: () => change(true),
  },
  {
    id: 'change-back',
    group: 'play',
    name: () => words.changeBack,
    keys: ['Alt+ArrowLeft'],
    enabled: onPath,
    run: () => change(false),
  },
  {
    id: 'first',
    group: 'play',
    name: () => words.firstEvent,
    keys: ['Home'],
    enabled: onLog,
    run: player.first,
  },
  { id: 'last', group: 'play', name: () => words.lastEvent, keys: ['End'], enabled: onLog, run: player.last },
  {
    id: 'lane-next',
    group: 'play',
    name: () => words.laneNext,
    keys: ['l'],
    letter: true,
    enabled: () => onLog() && lanes.several,
    run: () => player.turnLane(1),
  },
  {
    id: 'lane-previous',
    group: 'play',
    name: () => words.lanePrevious,
    keys: ['L'],
    letter: true,
    enabled: () => onLog() && lanes.several,
    run: () => player.turnLane(-1),
  },
  {
    id: 'lane-all',
    group: 'play',
    name: () => words.laneAllCommand,
    keys: [],
    enabled: () => onLog() && lanes.chosen !== null,
    run: () => player.enter(null),
  },
  {
    id: 'error-next',
    group: 'play',
    name: () => words.errorNext,
    keys: ['e'],
    letter: true,
    enabled: onLog,
    run: () => void player.step({ kind: 'error' }, true),
  },
  {
    id: 'error-previous',
    group: 'play',
    name: () => words.errorPrevious,
    keys: ['E'],
    letter: true,
    enabled: onLog,
    run: () => void player.step({ kind: 'error' }, false),
  },
  {
    id: 'follow',
    group: 'play',
    name: () => words.follow,
    keys: ['f'],
    letter: true,
    enabled: onLog,
    run: () => player.toggleFollow(),
  },
  {
    id: 'slower',
    group: 'play',
    name: () => words.slower,
    keys: ['<'],
    letter: true,
    enabled: onLog,
    run: () => player.slower(),
  },
  {
    id: 'faster',
    group: 'play',
    name: () => words.faster,
    keys: ['>'],
    letter: true,
    enabled: onLog,
    run: () => player.faster(),
  },

  {
    id: 'bookmark',
    group: 'timeline',
    name: () => words.bookmark,
    keys: ['m'],
    letter: true,
    enabled: onLog,
    run: () => void player.toggleBookmark(),
  },
  {
    id: 'bookmark-next',
    group: 'timeline',
    name: () => words.bookmarkNext,
    keys: ['u'],
    letter: true,
    enabled: onLog,
    run: () => void player.step({ kind: 'bookmark' }, true),
  },
  {
    id: 'bookmark-previous',
    group: 'timeline',
    name: () => words.bookmarkPrevious,
    keys: ['U'],
    letter: true,
    enabled: onLog,
    run: () => void player.step({ kind: 'bookmark' }, false),
  },
  {
    id: 'a',
    group: 'timeline',
    name: () => words.setPoint('A'),
    keys: ['['],
    letter: true,
    enabled: onLog,
    run: () => player.setA(),
  },
  {
    id: 'b',
    group: 'timeline',
    name: () => words.setPoint('B'),
    keys: [']'],
    letter: true,
    enabled: onLog,
    run: () => player.setB(),
  },
  {
    id: 'axis',
    group: 'timeline',
    name: () => words.axis,
    keys: ['t'],
    letter: true,
    enabled: () => onLog() && player.timed,
    run: () => player.toggleAxis(),
  },
  {
    id: 'fit',
    group: 'timeline',
    name: () => words.fit,
    keys: ['0'],
    letter: true,
    enabled: onLog,
    run: () => visible.fit(),
  },

  {
    id: 'palette',
    group: 'find',
    name: () => words.searchOrGo,
    keys: ['mod+k'],
    hidden: true,
    run: () => overlay.toggle('palette'),
  },
  {
    id: 'search',
    group: 'find',
    name: () => words.searchLog,
    keys: ['/', 'mod+f'],
    letter: true,
    enabled: onLog,
    run: () => search.show(),
  },
  {
    id: 'hit-next',
    group: 'find',
    name: () => words.hitNext,
    keys: ['n'],
    letter: true,
    enabled: () => player.search !== null,
    run: search.next,
  },
  {
    id: 'hit-previous',
    group: 'find',
    name: () => words.hitPrevious,
    keys: ['N'],
    letter: true,
    enabled: () => player.search !== null,
    run: search.previous,
  },
  {
    id: 'files',
    group: 'find',
    name: () => words.showTab(words.files),
    keys: ['Alt+1'],
    enabled: onLog,
    run: tab('files'),
  },
  {
    id: 'dialogue',
    group: 'find',
    name: () => words.showTab(words.dialogue),
    keys: ['Alt+2'],
    enabled: onLog,
    run: tab('dialogue'),
  },
  {
    id: 'context',
    group: 'find',
    name: () => words.showTab(words.context),
    keys: ['Alt+3', 'c'],
    letter: true,
    enabled: onLog,
    run: tab('context'),
  },
  {
    id: 'tools',
    group: 'find',
    name: () => words.showTab(words.tools),
    keys: ['Alt+4'],
    enabled: onLog,
    run: tab('tools'),
  },
  { id: 'chips', group: 'find', name: () => words.showTab(words.chips), keys: ['Alt+5'], run: tab('chips') },
  {
    id: 'findings',
    group: 'find',
    name: () => words.showTab(words.findings),
    keys: ['Alt+6'],
    enabled: onLog,
    run: tab('findings'),
  },
  {
    id: 'drift',
    group: 'find',
    name: () => words.showDrift,
    keys: [],
    enabled: onLog,
    run: () => inquiry.showFindings('drift'),
  },
  {
    id: 'repair',
    group: 'find',
    name: () => words.repairDrift,
    keys: [],
    enabled: onLog,
    run: () => {
      inquiry.showFindings('drift');
      inquiry.repairing = true;
    },
  },
  {
    id: 'diagnose',
    group: 'find',
    name: () => words.diagnoseLog,
    keys: [],
    enabled: onLog,
    run: () => {
      inquiry.showFindings('diagnosis');
      void inquiry.diagnose();
    },
  },
  {
    id: 'traces',
    group: 'find',
    name: () => words.showTraces,
    keys: [],
    enabled: onLog,
    run: () => inquiry.showTools('traces'),
  },
  {
    id: 'trace-here',
    group: 'find',
    name: () => words.showTraceHere,
    keys: [],
    enabled: onEntry,
    run: () => traced('trace'),
  },
  {
    id: 'operation-here',
    group: 'find',
    name: () => words.showOperationHere,
    keys: [],
    enabled: onEntry,
    run: () => traced('operation'),
  },
  {
    id: 'figures',
    group: 'find',
    name: () => words.showFigures,
    keys: [],
    enabled: onLog,
    run: () => inquiry.showTools('figures'),
  },
  {
    id: 'snapshots',
    group: 'find',
    name: () => words.showTab(words.snapshots),
    keys: ['Alt+8'],
    run: tab('snapshots'),
  },
  {
    id: 'entries',
    group: 'find',
    name: () => words.showTab(words.events),
    keys: ['Alt+7'],
    enabled: onLog,
    run: tab('entries'),
  },
  { id: 'logs', group: 'find', name: () => words.showTab(words.allLogs), keys: ['Alt+0'], run: tab('logs') },
  {
    id: 'history',
    group: 'find',
    name: () => words.showTab(words.history),
    keys: ['Alt+-'],
    run: tab('history'),
  },

  {
    id: 'authors',
    group: 'find',
    name: () => words.showTab(words.fileHistory),
    keys: ['Alt+9'],
    run: () => selection.showPath(null, null),
  },
  {
    id: 'authors-of',
    group: 'find',
    name: () => words.fileHistoryOf,
    keys: [],
    enabled: onPath,
    run: () => {
      if (player.id !== null && selection.path !== null) void library.showAuthors(player.id, selection.path);
    },
  },

  {
    id: 'what-if-skip',
    group: 'timeline',
    name: () => words.whatIfSkip,
    keys: ['x'],
    letter: true,
    enabled: branchable,
    run: () => void whatif.skip(),
  },
  {
    id: 'what-if-edit',
    group: 'timeline',
    name: () => words.whatIfEdit,
    keys: ['X'],
    letter: true,
    enabled: branchable,
    run: () => whatif.ask('edit'),
  },
  {
    id: 'what-if-insert',
    group: 'timeline',
    name: () => words.whatIfInsert,
    keys: [],
    enabled: branchable,
    run: () => whatif.ask('insert'),
  },
  {
    id: 'what-if-cut',
    group: 'timeline',
    name: () => words.whatIfCut,
    keys: [],
    enabled: branchable,
    run: () => whatif.ask('cut'),
  },
  {
    id: 'what-if-switch',
    group: 'timeline',
    name: () => words.whatIfSwitch,
    keys: ['y'],
    letter: true,
    enabled: () => onLog() && whatif.other !== null,
    run: () => void (whatif.other !== null && whatif.show(whatif.other)),
  },
  {
    id: 'what-if-save',
    group: 'timeline',
    name: () => words.whatIfSave,
    keys: [],
    enabled: () => onLog() && (whatif.draft?.view ?? null) !== null,
    run: () => {
      const view = whatif.draft?.view;
      if (view) void whatif.save(view.right);
    },
  },
  {
    id: 'differences',
    group: 'find',
    name: () => words.showTab(words.differences),
    keys: [],
    enabled: () => onLog() && whatif.pair !== null,
    run: tab('differences'),
  },
  {
    id: 'compare',
    group: 'find',
    name: () => words.compareWith,
    keys: [],
    enabled: onLog,
    run: () => whatif.ask('compare'),
  },

  {
    id: 'undo',
    group: 'restore',
    name: () => words.undoLast,
    keys: ['mod+z'],
    run: () => void restores.undo(),
  },

  {
    id: 'open',
    group: 'window',
    name: () => words.openLog,
    keys: ['mod+o'],
    run: () => void library.pickFiles(),
  },
  {
    id: 'open-folder',
    group: 'window',
    name: () => words.openFolder,
    keys: ['mod+shift+o'],
    run: () => void library.pickFolder(),
  },
  { id: 'demo', group: 'window', name: () => words.playSample, keys: [], run: () => void library.openDemo() },
  {
    id: 'close-log',
    group: 'window',
    name: () => words.closeLog,
    keys: ['mod+w'],
    enabled: () => player.id !== null,
    run: () => {
      const log = player.id;
      if (log === null) return;
      player.eject();
      void whatif.closed(log);
      void library.closeLog(log);
    },
  },
  {
    id: 'help',
    group: 'window',
    name: () => words.helpTitle,
    keys: ['?'],
    letter: true,
    run: () => overlay.toggle('help'),
  },
  {
    id: 'settings',
    group: 'window',
    name: () => words.settings,
    keys: ['mod+,'],
    run: () => overlay.toggle('settings'),
  },
  {
    id: 'export',
    group: 'window',
    name: () => words.exportPart,
    keys: ['mod+e'],
    enabled: onLog,
    run: () => overlay.open('export'),
  },
  { id: 'theme', group: 'window', name: () => words.theme, keys: [], run: () => void settings.toggleTheme() },
];
