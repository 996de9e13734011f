/**
 * Words in two languages, switched live. A dictionary is one object for each language with the same keys; a word with
 * a place for a value is a function. Each part keeps its own dictionary beside it:
 *
 *   const words = dictionary({ open: 'Open…', of: (n: string) => `of ${n}` }, { open: '打开…', of: (n) => `共 ${n}` });
 *   words.open            // in the language of the moment; reading it in a component follows a switch
 *
 * Not here: log text (shown as it is), messages of the engine.
 */
export type Tongue = 'en' | 'zh-CN';
type Word = string | ((...values: never[]) => string);
type Words = Record<string, Word>;
type Same<W extends Words> = { [K in keyof W]: W[K] extends string ? string : W[K] };

class Language {
  /** What the page speaks now. */
  tongue = $state<Tongue>('en');

  /** `system`, `en` or `zh-CN`, as in the settings. */
  choose(setting: string, system: readonly string[] = navigator.languages): void {
    this.tongue = setting === 'en' || setting === 'zh-CN' ? setting : firstKnown(system);
    document.documentElement.lang = this.tongue === 'zh-CN' ? 'zh-Hans' : 'en';
  }
}

function firstKnown(system: readonly string[]): Tongue {
  for (const one of system) {
    const lower = one.toLowerCase();
    if (lower.startsWith('zh')) return 'zh-CN';
    if (lower.startsWith('en')) return 'en';
  }
  return 'en';
}

export const language = new Language();

/** Every dictionary that was made, for the test that they are whole. */
export const dictionaries: { en: Words; zh: Words }[] = [];

export function dictionary<const W extends Words>(en: W, zh: Same<W>): Same<W> {
  dictionaries.push({ en, zh });
  const words = {};
  for (const key of Object.keys(en)) {
    Object.defineProperty(words, key, {
      enumerable: true,
      get: () => (language.tongue === 'zh-CN' ? zh : en)[key],
    });
  }
  return words as Same<W>;
}
