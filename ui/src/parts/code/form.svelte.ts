/** Whether diffs are drawn side by side: a person's choice, else from 1600 px of window on. */
import { settings } from '../../state';

class DiffForm {
  #wide = $state(false);

  constructor() {
    if (typeof matchMedia !== 'function') return;
    const query = matchMedia('(min-width: 1600px)');
    this.#wide = query.matches;
    query.addEventListener('change', () => (this.#wide = query.matches));
  }

  readonly split = $derived(settings.diff === 'split' || (settings.diff === 'auto' && this.#wide));

  choose(form: 'inline' | 'split'): void {
    void settings.set('ui.diff', form);
  }
}

export const diffForm = new DiffForm();
