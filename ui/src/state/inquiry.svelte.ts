/**
 * Questions about a log as a whole: which of the views below Findings and Tools is shown, the trace or operation that is
 * looked at, and the diagnosis, which goes on while other tabs are shown.
 */
import type { DiagnosisView, Notice } from '../api';
import { Refused, request } from '../host';
import { player } from './player.svelte';
import { selection } from './selection.svelte';

export type FindingsView = 'found' | 'drift' | 'diagnosis';
export type ToolsView = 'calls' | 'figures' | 'traces';
/** A trace as a tree, or all of one operation in order. */
export type Traced = { kind: 'trace' | 'operation'; id: string };

const COUNT_AT_ONCE = 500;

class Inquiry {
  findings = $state<FindingsView>('found');
  tools = $state<ToolsView>('calls');
  traced = $state.raw<Traced | null>(null);
  /** The preview of a repair is open. */
  repairing = $state(false);

  /** Drifts of a log that no correction settles; null: not counted yet. */
  open = $state<number | null>(null);

  #counted = 0;

  /** Counts them anew, as when the log has grown. */
  async count(log: string | null): Promise<void> {
    const counted = ++this.#counted;
    if (log === null) {
      this.open = null;
      return;
    }
    let open = 0;
    try {
      for (let offset = 0; ; offset += COUNT_AT_ONCE) {
        const page = await request({ type: 'drifts', log, offset, limit: COUNT_AT_ONCE });
        if (counted !== this.#counted) return;
        open += page.rows.filter((row) => row.settledBy === null).length;
        if (page.rows.length === 0 || offset + page.rows.length >= page.total) break;
      }
      this.open = open;
    } catch {
      if (counted === this.#counted) this.open = null;
    }
  }

  // --- the diagnosis

  /** Which log it is of, and how many entries that had. */
  diagnosed = $state.raw<{ log: string; count: number } | null>(null);
  diagnosis = $state.raw<DiagnosisView | null>(null);
  fault = $state.raw<Refused | null>(null);
  busy = $state(false);
  /** 0..1; null while not known. */
  share = $state<number | null>(null);

  #asked = 0;

  showFindings(view: FindingsView): void {
    this.findings = view;
    selection.show('findings');
  }

  showTools(view: ToolsView): void {
    this.tools = view;
    selection.show('tools');
  }

  showTraced(kind: Traced['kind'], id: string): void {
    this.traced = { kind, id };
    this.showTools('traces');
  }

  /** The trace, or the operation, of the entry at the playhead. Returns whether it has one. */
  async showTracedHere(kind: Traced['kind']): Promise<boolean> {
    const log = player.id;
    if (log === null || player.at < 1) return false;
    try {
      const event = await request({ type: 'event', log, index: player.at });
      const id = kind === 'trace' ? event.row.traceId : event.correlationId;
      if (id === null || id === '') return false;
      this.showTraced(kind, id);
      return true;
    } catch {
      return false;
    }
  }

  async diagnose(): Promise<void> {
    const log = player.id;
    if (log === null || (this.busy && this.diagnosed?.log === log)) return;
    const asked = ++this.#asked;
    this.diagnosed = { log, count: player.count };
    this.diagnosis = null;
    this.fault = null;
    this.share = null;
    this.busy = true;
    try {
      const view = await request({ type: 'diagnose', log });
      if (asked === this.#asked) this.diagnosis = view;
    } catch (thrown) {
      if (asked === this.#asked) this.fault = Refused.from(thrown);
    } finally {
      if (asked === this.#asked) this.busy = false;
    }
  }

  hear(notice: Notice): void {
    if (notice.type !== 'diagnoseProgress' || notice.log !== this.diagnosed?.log) return;
    this.share = notice.total > 0 ? notice.done / notice.total : null;
  }
}

export const inquiry = new Inquiry();
