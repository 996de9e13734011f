/** A file's content at the playhead, read by windows as it comes into view; the facts come with each window. */
import { untrack } from 'svelte';
import type { FileView } from '../../api';
import { request } from '../../host';
import { Pages } from '../../state';

export class FileText {
  facts = $state.raw<FileView | null>(null);
  readonly lines = new Pages<string>();
  #key = '';
  #path = '';

  /** The file at a position; the old lines stay until the new ones are there. */
  ask(log: string, path: string, at: number): void {
    const key = `${log}\n${at}\n${path}`;
    if (key === this.#key) return;
    if (path !== this.#path) this.clear();
    this.#key = key;
    this.#path = path;
    const ask = async (offset: number, limit: number) => {
      const view = await request({ type: 'file', log, path, at, fromLine: offset + 1, limit });
      if (this.#key === key) this.facts = view;
      return { offset, total: view.text === null ? 0 : view.lines, rows: view.text ?? [] };
    };
    untrack(() => this.lines.ask(ask));
  }

  clear(): void {
    this.#key = '';
    this.#path = '';
    this.facts = null;
    // Called from effects, which must not follow what they write.
    untrack(() => this.lines.clear());
  }
}
