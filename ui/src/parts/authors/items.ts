// The versions of a file under the days on which they came, and which one is asked for first. Pure.
import type { PathVersion } from '../../api';

export type Item = { kind: 'day'; at: number | null; today: boolean; yesterday: boolean } | Line;
export type Line = { kind: 'version'; version: PathVersion };

function midnight(ms: number): number {
  return new Date(ms).setHours(0, 0, 0, 0);
}

/** Newest first; a heading where another day begins. What has no time stands under its own. */
export function dayItems(versions: readonly PathVersion[], now: number): Item[] {
  const today = midnight(now);
  const yesterday = midnight(today - 1);
  const out: Item[] = [];
  let last: number | null | undefined;
  for (const version of versions) {
    // The disk is as it is now, whenever it was written.
    const time = version.author.kind === 'disk' ? now : version.time;
    const at = time === null ? null : midnight(time);
    if (at !== last) {
      out.push({ kind: 'day', at, today: at === today, yesterday: at === yesterday });
      last = at;
    }
    out.push({ kind: 'version', version });
  }
  return out;
}

/**
 * The version that a person most likely wants back: the newest of an earlier day, where today changed the file; else
 * the newest that the disk no longer has; else the newest.
 */
export function wanted(versions: readonly PathVersion[], now: number): string | null {
  const today = midnight(now);
  const day = (version: PathVersion) => version.author.kind !== 'disk' && (version.time ?? 0) < today;
  const can = versions.filter((version) => version.restorable && version.exists);
  const first = can.find(day) ?? can[0] ?? versions[0];
  return first?.version ?? null;
}

/** The nearest version at or beyond an item, in a direction; `null` when there is none. */
export function nearest(items: readonly Item[], from: number, by: 1 | -1): number | null {
  for (let i = from; i >= 0 && i < items.length; i += by) if (items[i]?.kind === 'version') return i;
  return null;
}
