/**
 * The page's one way out: a request in, a reply out, and notices. Who answers (the desktop, or the fixture in a
 * browser and in tests) is set once, at the start, by `useHost`.
 */
import type { ApiError, Carries, Notice, Replies, RequestType } from '../api';

export type Host = {
  ask<T extends RequestType>(request: { type: T } & Carries<T>): Promise<Replies[T]>;
  /** Notices from now on; returns how to stop. */
  listen(hear: (notice: Notice) => void): () => void;
};

/** A request that was not done. `code` is stable, `message` one sentence for people, `hint` what to do. */
export class Refused extends Error {
  readonly code: string;
  readonly hint: string | null;
  /** What exactly, and what it is about: for the page's own sentence. */
  readonly why: string | null;
  readonly about: readonly string[];

  constructor(error: ApiError) {
    super(error.message);
    this.name = 'Refused';
    this.code = error.code;
    this.hint = error.hint;
    this.why = error.why ?? null;
    this.about = error.about ?? [];
  }

  /** Whatever was thrown, as a refusal. */
  static from(thrown: unknown): Refused {
    if (thrown instanceof Refused) return thrown;
    if (isApiError(thrown)) return new Refused(thrown);
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new Refused({ code: 'io', message, hint: null });
  }
}

function isApiError(value: unknown): value is ApiError {
  return typeof value === 'object' && value !== null && 'code' in value && 'message' in value;
}

let host: Host | null = null;
const heard = new Set<(notice: Notice) => void>();
let stop: (() => void) | null = null;

export function useHost(next: Host): void {
  stop?.();
  host = next;
  stop = next.listen((notice) => {
    for (const hear of [...heard]) hear(notice);
  });
}

/** `await request({ type: 'log', log })`. Rejects with `Refused`. */
export async function request<T extends RequestType>(asked: { type: T } & Carries<T>): Promise<Replies[T]> {
  if (!host) throw new Refused({ code: 'io', message: 'No host is connected.', hint: null });
  try {
    return await host.ask(asked);
  } catch (thrown) {
    throw Refused.from(thrown);
  }
}

/** Notices from now on; returns how to stop (an `$effect` may return it). */
export function onNotice(hear: (notice: Notice) => void): () => void {
  heard.add(hear);
  return () => heard.delete(hear);
}
