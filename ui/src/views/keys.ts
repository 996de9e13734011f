/** From a key press to a command, and from a command to the caps that are shown for it. */
import { COMMANDS, type Command } from './commands';

export type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'> & {
  getModifierState?: (key: string) => boolean;
};

/** Name of a press, as the table writes it: `mod+k`, `Shift+ArrowLeft`, `E`. */
export function pressName(press: Press, mac: boolean): string {
  // AltGr types a sign, on some systems as Ctrl and Alt together.
  const typed = press.getModifierState?.('AltGraph') === true;
  const mod = !typed && (mac ? press.metaKey : press.ctrlKey);
  const key = press.key === ' ' ? 'Space' : press.key;
  const letter = Array.from(key).length === 1;
  const parts: string[] = [];
  if (mod) parts.push('mod');
  if (!typed && press.altKey) parts.push('Alt');
  // Shift is in a sign already, unless a modifier makes a letter of it again.
  if (press.shiftKey && (!letter || mod)) parts.push(mod ? 'shift' : 'Shift');
  parts.push(mod && letter ? key.toLowerCase() : key);
  return parts.join('+');
}

/** Where the press happened: text can be typed there, or the control takes the key itself. */
export type Place = { text: boolean; control: boolean };

export function placeOf(target: EventTarget | null): Place {
  if (!(target instanceof HTMLElement)) return { text: false, control: false };
  const tag = target.tagName;
  const type = (target as HTMLInputElement).type;
  const text =
    tag === 'TEXTAREA' ||
    target.isContentEditable ||
    (tag === 'INPUT' && !['checkbox', 'radio', 'button', 'range'].includes(type)) ||
    tag === 'SELECT';
  const role = target.getAttribute('role') ?? '';
  const control =
    tag === 'BUTTON' ||
    tag === 'A' ||
    tag === 'INPUT' ||
    ['button', 'checkbox', 'radio', 'tab', 'menuitem'].includes(role);
  return { text, control };
}

/** The command that a press means, or null. */
export function commandFor(press: Press, place: Place, mac: boolean, letters: boolean): Command | null {
  const name = pressName(press, mac);
  const command = COMMANDS.find((one) => one.keys.includes(name));
  if (!command) return null;
  const modified = name.startsWith('mod+') || name.startsWith('Alt+');
  if (place.text && (!modified || name === 'mod+z' || name.includes('Arrow'))) return null;
  if (!modified && command.letter && !letters) return null;
  // A focused button is pressed by Space.
  if (name === 'Space' && place.control) return null;
  return command.enabled?.() === false ? null : command;
}

const CAPS: Record<string, string> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
};

/** The caps of a key name: `['Ctrl', 'K']`. */
export function caps(name: string, mac: boolean, space = 'Space'): string[] {
  const parts = name === '+' ? ['+'] : name.split('+');
  return parts.map((part) => {
    if (part === 'mod') return mac ? '⌘' : 'Ctrl';
    if (part === 'shift' || part === 'Shift') return mac ? '⇧' : 'Shift';
    if (part === 'Alt') return mac ? '⌥' : 'Alt';
    if (part === 'Space') return space;
    const named = CAPS[part];
    if (named) return named;
    return parts.length > 1 && part.length === 1 ? part.toUpperCase() : part;
  });
}
