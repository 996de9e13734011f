/** The settings as the engine has them, and what the page does by them at once: theme, language. */
import type { JsonValue, SettingRow, SettingsView } from '../api';
import { Refused, request } from '../host';
import { language } from '../i18n';
import type { DiffLayout } from './selection.svelte';
import { toasts } from './toasts.svelte';

class Settings {
  view = $state.raw<SettingsView | null>(null);

  readonly theme = $derived(this.#text('ui.theme', 'system'));
  readonly singleKeys = $derived(this.value('ui.single_keys') !== false);
  readonly diff = $derived(this.#text('ui.diff', 'auto') as DiffLayout);
  readonly speed = $derived(
    typeof this.value('play.speed') === 'number' ? (this.value('play.speed') as number) : 1,
  );
  readonly paced = $derived(this.value('play.paced') !== false);

  row(key: string): SettingRow | undefined {
    return this.view?.rows.find((row) => row.key === key);
  }

  value(key: string): JsonValue | undefined {
    return this.row(key)?.value;
  }

  #text(key: string, otherwise: string): string {
    const value = this.value(key);
    return typeof value === 'string' ? value : otherwise;
  }

  take(view: SettingsView): void {
    this.view = view;
    const theme = this.theme;
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    language.choose(this.#text('ui.language', 'system'));
  }

  /** Sets one, and shows it at once; a refusal is said and the old value comes back. */
  async set(key: string, value: JsonValue): Promise<void> {
    const before = this.view;
    if (before)
      this.take({ ...before, rows: before.rows.map((row) => (row.key === key ? { ...row, value } : row)) });
    try {
      this.take(await request({ type: 'setSetting', key, value }));
    } catch (thrown) {
      if (before) this.take(before);
      toasts.fault(Refused.from(thrown));
    }
  }

  /** Whether the page is dark now. */
  dark(): boolean {
    return (
      this.theme === 'dark' || (this.theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
    );
  }

  /** Light or dark; the one that is not shown now. */
  toggleTheme(): Promise<void> {
    return this.set('ui.theme', this.dark() ? 'light' : 'dark');
  }
}

export const settings = new Settings();
