import type { Lane } from '../lane-routing.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { type SlownessOwner, slownessId } from './slow-since.ts';

/**
 * A message that is shed was received fewer times than this. So no message is hidden for more than 4 s, and none
 * approaches `maxReceiveCount`.
 */
export const storedFromReceive = { first: 5, retry: 5, slow: 3 } as const;

/**
 * The verdict on a message that was received. `shed`: the process has as many messages of its webhook in flight as it may. Nothing
 * is read or stored, and the message has to come back in a moment.
 */
type Admission = { readonly outcome: 'shed' } | AdmittedMessage;

export interface AdmittedMessage {
  readonly outcome: 'admitted';
  /** True when this process may make its attempt; otherwise its delivery is stored, and attempted later. */
  readonly mayAttempt: boolean;
  /**
   * Returns whether others may wait for its place: in a fast lane an attempt that takes long is given up then.
   *
   * @param hasStopped - true when the process takes no more messages until those in flight are processed
   */
  isBusy(hasStopped: boolean): boolean;
  /** Ends it: must be called once the message was processed. */
  leave(): void;
}

/**
 * Judges a message of an account's event.
 *
 * @param receiveCount - how many times it was received by now
 * @param isAskedFor - a test or an expedited attempt: a person waits for it, and requests for them are limited
 */
export type Admit = (owner: SlownessOwner, receiveCount: number, isAskedFor?: boolean) => Admission;

/**
 * Returns the judgement of a process. What a webhook's burst would cost beyond its places is not even read: of ten messages that
 * are shed, one call is made. One that was shed before is admitted at last, so that no event stays unseen for long. In the slow lane
 * an attempt that was asked for has places of its own, and is shed until one is free: to store it would put it off by its age.
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
