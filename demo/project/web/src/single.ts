/** Runs `work` with one key until it ends; clicks in between do nothing. */
export function once<T>(work: (key: string) => Promise<T>): () => Promise<T | undefined> {
  let running = false;
  return async () => {
    if (running) return undefined;
    running = true;
    try {
      return await work(crypto.randomUUID());
    } finally {
      running = false;
    }
  };
}
