/** Whether single letters do something in lists (`j`, `k`): the page turns it off by its settings. */
export const letterKeys = $state({ on: true });
