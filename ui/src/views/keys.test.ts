import { beforeEach, describe, expect, it } from 'vitest';
import { player } from '../state';
import { COMMANDS } from './commands';
import { caps, commandFor, placeOf, pressName } from './keys';

const press = (
  key: string,
  more: Partial<Record<'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey', boolean>> = {},
) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...more,
});
const nowhere = { text: false, control: false };
const id = (...it: Parameters<typeof commandFor>) => commandFor(...it)?.id ?? null;

describe('keys', () => {
  beforeEach(() => {
    player.log = {
      log: 'l',
      title: 't',
      files: [],
      format: 'canonical',
      foreign: false,
      phase: 'ready',
      error: null,
      progress: null,
      count: 10,
      firstTime: null,
      lastTime: null,
      live: false,
      changed: null,
      root: null,
      cwd: null,
      tracks: { dialogue: 0, tools: 0, files: 0, chips: 0, memory: 0, errors: 0 },
      findingsError: 0,
      findingsWarning: 0,
      findingsInfo: 0,
    };
  });

  it('are the ones that the window is promised to have', () => {
    const expected: [ReturnType<typeof press>, string][] = [
      [press(' '), 'play'],
      [press('ArrowLeft'), 'back'],
      [press('ArrowRight'), 'forward'],
      [press('ArrowLeft', { shiftKey: true }), 'tool-back'],
      [press('ArrowRight', { shiftKey: true }), 'tool-forward'],
      [press('Home'), 'first'],
      [press('End'), 'last'],
      [press('e'), 'error-next'],
      [press('E', { shiftKey: true }), 'error-previous'],
      [press('m'), 'bookmark'],
      [press('u'), 'bookmark-next'],
      [press('U', { shiftKey: true }), 'bookmark-previous'],
      [press('['), 'a'],
      [press(']'), 'b'],
      [press('f'), 'follow'],
      [press('/'), 'search'],
      [press('?', { shiftKey: true }), 'help'],
      [press('k', { ctrlKey: true }), 'palette'],
      [press('z', { ctrlKey: true }), 'undo'],
      [press(',', { ctrlKey: true }), 'settings'],
      [press('o', { ctrlKey: true }), 'open'],
    ];
    for (const [key, command] of expected)
      expect(id(key, nowhere, false, true), pressName(key, false)).toBe(command);
  });

  it('leave a text field its letters, arrows and undo', () => {
    const text = { text: true, control: true };
    for (const key of [
      press('e'),
      press('m'),
      press('/'),
      press(' '),
      press('ArrowLeft'),
      press('Home'),
      press('z', { ctrlKey: true }),
    ])
      expect(id(key, text, false, true)).toBeNull();
    expect(id(press('k', { ctrlKey: true }), text, false, true)).toBe('palette');
  });

  it('can have the single letters turned off', () => {
    expect(id(press('e'), nowhere, false, false)).toBeNull();
    expect(id(press('/'), nowhere, false, false)).toBeNull();
    expect(id(press('f', { ctrlKey: true }), nowhere, false, false)).toBe('search');
    expect(id(press('ArrowLeft'), nowhere, false, false)).toBe('back');
    expect(id(press(' '), nowhere, false, false)).toBe('play');
  });

  it('leave Space to a focused button', () => {
    expect(id(press(' '), { text: false, control: true }, false, true)).toBeNull();
  });

  it('use Command on a Mac', () => {
    expect(id(press('k', { metaKey: true }), nowhere, true, true)).toBe('palette');
    expect(id(press('k', { ctrlKey: true }), nowhere, true, true)).toBeNull();
  });

  it('take a bracket that AltGr types', () => {
    const typed = {
      ...press('[', { ctrlKey: true, altKey: true }),
      getModifierState: (key: string) => key === 'AltGraph',
    };
    expect(id(typed, nowhere, false, true)).toBe('a');
  });

  it('do nothing on the timeline when there is no log', () => {
    player.log = null;
    expect(id(press(' '), nowhere, false, true)).toBeNull();
    expect(id(press('k', { ctrlKey: true }), nowhere, false, true)).toBe('palette');
  });

  it('never mean two things', () => {
    const keys = COMMANDS.flatMap((command) => command.keys);
    expect(new Set(keys).size).toBe(keys.length);
    const ids = COMMANDS.map((command) => command.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('mark every single sign as a letter, so that it can be turned off', () => {
    for (const command of COMMANDS)
      for (const key of command.keys)
        if (Array.from(key).length === 1) expect(command.letter, command.id).toBe(true);
  });

  it('are shown as caps', () => {
    expect(caps('mod+k', false)).toEqual(['Ctrl', 'K']);
    expect(caps('mod+k', true)).toEqual(['⌘', 'K']);
    expect(caps('Alt+ArrowLeft', false)).toEqual(['Alt', '←']);
    expect(caps('E', false)).toEqual(['E']);
  });

  it('know a text field from a box to tick', () => {
    const make = (html: string) => {
      const element = document.createElement(html.split(' ')[0] ?? 'div');
      for (const [name, value] of html
        .split(' ')
        .slice(1)
        .map((one) => one.split('=')))
        element.setAttribute(name ?? '', value ?? '');
      return placeOf(element);
    };
    expect(make('input type=text').text).toBe(true);
    expect(make('textarea').text).toBe(true);
    expect(make('input type=checkbox')).toEqual({ text: false, control: true });
    expect(make('button').control).toBe(true);
    expect(make('div')).toEqual({ text: false, control: false });
  });
});
