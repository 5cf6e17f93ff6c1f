/** Lets one process start at a time. */
export interface StartGate {
  /**
   * Waits for its turn, first come, first served.
   *
   * @returns what lets the next one in; calling it again does nothing.
   */
  enter(): Promise<() => void>;
}

/**
 * Makes the gate that the processes of a run start through, one after another. Loading a bundle takes a processor for a
 * while: on a busy machine, many that start at once all take too long.
 */
export function makeStartGate(): StartGate {
  let previous: Promise<void> = Promise.resolve();
  return {
    enter: async () => {
      const turn = previous;
      const { promise, resolve } = Promise.withResolvers<void>();
      previous = promise;
      await turn;
      return resolve;
    },
  };
}
