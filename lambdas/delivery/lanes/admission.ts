import type { Lane } from '../lane-routing.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { type SlownessOwner, slownessId } from './slow-since.ts';

/**
 * A message is shed only if it was received fewer times than this, and admitted otherwise. No message is hidden for more than 4 s,
 * and no message approaches `maxReceiveCount`.
 */
export const storedFromReceive = { first: 5, retry: 5, slow: 3 } as const;

/**
 * The decision about a received message. A message is `shed` if its webhook has used its slots in this process. It is neither read nor
 * stored, and returns in a moment.
 */
type Admission = { readonly outcome: 'shed' } | AdmittedMessage;

export interface AdmittedMessage {
  readonly outcome: 'admitted';
  /** True if this process may make the attempt. Otherwise, the delivery is stored and attempted later. */
  readonly mayAttempt: boolean;
  /**
   * Returns whether other messages may wait for its slot. If so, a fast lane cancels an attempt that takes long.
   *
   * @param hasStopped - true if the process has stopped receiving until the messages in flight are processed
   */
  isBusy(hasStopped: boolean): boolean;
  /** Frees its slot. The consumer must call it once the message is processed. */
  leave(): void;
}

/**
 * Decides about a message of an account's event.
 *
 * @param receiveCount - how many times it has been received
 * @param isAskedFor - true for a test or an expedited attempt. A person waits for it, and such requests are limited
 */
export type Admit = (owner: SlownessOwner, receiveCount: number, isAskedFor?: boolean) => Admission;

/**
 * Returns the admission of a process. A burst beyond its webhook's slots is shed without a read, with one call for ten messages. A
 * message that was shed several times is admitted, so that every event is stored soon. In the slow lane, a requested attempt has its
 * own slots and is shed until one is free. If it were stored instead, it would wait for one to two times its age.
 */
export function makeAdmission({ limit, lane }: { readonly limit: ConcurrencyLimit; readonly lane: Lane }): Admit {
  return function admit(owner, receiveCount, isAskedFor = false) {
    const id = slownessId(owner);
    const isBusy = (hasStopped: boolean) => limit.isBusy(id, hasStopped);
    const leave = limit.enter(id, isAskedFor);
    if (leave) return { outcome: 'admitted', mayAttempt: true, isBusy, leave };
    const isShed = receiveCount < storedFromReceive[lane] || (lane === 'slow' && isAskedFor);
    if (isShed) return { outcome: 'shed' };
    return { outcome: 'admitted', mayAttempt: false, isBusy, leave: () => undefined };
  };
}
