/** The one thing that floats over the window, and the drop zone. */
import type { DropItem } from '../api';

export type Panel = 'palette' | 'help' | 'settings' | 'export';

class Overlay {
  panel = $state<Panel | null>(null);
  /** Files hover over the window: what a drop would do. */
  drop = $state.raw<DropItem[] | null>(null);
  /** Items of the last drop that were not understood. */
  refused = $state.raw<DropItem[]>([]);

  open(panel: Panel): void {
    this.panel = panel;
  }

  toggle(panel: Panel): void {
    this.panel = this.panel === panel ? null : panel;
  }

  close(): void {
    this.panel = null;
  }
}

export const overlay = new Overlay();
