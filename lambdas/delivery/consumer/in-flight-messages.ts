/** The consumer state that the processing of a message uses. */
export interface ConsumerState {
  readonly onAttempt: OnAttempt;
  /** Returns whether a busy process has stopped receiving until its messages in flight are processed. */
  readonly hasStopped: () => boolean;
}

/** Called when an attempt starts and its message only waits for the receiver. Returns the function to call when the attempt ends. */
export type OnAttempt = () => () => void;

export type InFlightMessages = ReturnType<typeof makeInFlightMessages>;

/** Creates a counter for messages in flight. */
export function makeInFlightMessages() {
  let messages = 0;
  let started = 0;
  let attempts = 0;
  let onEmpty = () => {};
  return { add, onAttempt, count, countStarted, countOwnWork, untilEmpty };

  /** Counts a message until its processing ends. `processing` must not reject. */
  function add(processing: Promise<void>): void {
    messages += 1;
    started += 1;
    void processing.finally(() => {
      messages -= 1;
      if (messages === 0) onEmpty();
    });
  }

  /** Counts a message as waiting for its receiver until the returned function is called. */
  function onAttempt(): () => void {
    attempts += 1;
    return function onEnd() {
      attempts -= 1;
    };
  }

  function count(): number {
    return messages;
  }

  /** Returns the total number of messages in the invocation. */
  function countStarted(): number {
    return started;
  }

  /** Returns the number of messages in flight that do not wait for a receiver. */
  function countOwnWork(): number {
    return messages - attempts;
  }

  /** Resolves once no message is in flight. */
  function untilEmpty(): Promise<void> {
    return new Promise(resolve => {
      onEmpty = resolve;
      if (messages === 0) resolve();
    });
  }
}
