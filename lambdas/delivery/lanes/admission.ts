import type { Lane } from '../lane-routing.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { type SlownessOwner, slownessId } from './slow-since.ts';

/**
 * The receive count from which a message is admitted instead of shed, by lane. Shedding therefore delays a message by at most 4 s, and no
 * message approaches `maxReceiveCount`.
 */
export const admittedFromReceive = { first: 5, retry: 5, slow: 3 } as const;

/**
 * The decision about a received message. A message is `shed` if its webhook has used its slots in this process. The process neither reads nor
 * stores its delivery, and the message returns after 1 s.
 */
type Admission = { readonly outcome: 'shed' } | AdmittedMessage;

export interface AdmittedMessage {
  readonly outcome: 'admitted';
  /** True if this process may make the attempt. Otherwise, the delivery is stored and attempted later. */
  readonly mayAttempt: boolean;
  /**
   * Returns whether other messages may be waiting for this message's slot. If so, a fast lane cancels a slow attempt.
   *
   * @param hasStopped - true if the process has stopped receiving until the messages in flight are processed
   */
  isBusy(hasStopped: boolean): boolean;
  /** Frees the slot. The consumer must call this function once the message is processed. */
  release(): void;
}

/**
 * Decides whether to admit a message of an account's event.
 *
 * @param receiveCount - the number of times the message has been received
 * @param isRequested - true for a test or an expedited attempt, for which a user is waiting
 */
export type Admit = (owner: SlownessOwner, receiveCount: number, isRequested?: boolean) => Admission;

/**
 * Creates the admission control of a process. It sheds a webhook's messages without reading their deliveries if the webhook's slots are
 * occupied. It admits a message that was shed several times, so every event is stored soon. In the slow lane, it sheds requested attempts
 * until one of their reserved slots is free, because a deferral would delay them by one to two times their age.
 */
export function makeAdmission({ limit, lane }: { readonly limit: ConcurrencyLimit; readonly lane: Lane }): Admit {
  return function admit(owner, receiveCount, isRequested = false) {
    const id = slownessId(owner);
    const isBusy = (hasStopped: boolean) => limit.isBusy(id, hasStopped);
    const release = limit.acquire(id, isRequested);
    if (release) return { outcome: 'admitted', mayAttempt: true, isBusy, release };
    const isShed = receiveCount < admittedFromReceive[lane] || (lane === 'slow' && isRequested);
    if (isShed) return { outcome: 'shed' };
    return { outcome: 'admitted', mayAttempt: false, isBusy, release: () => undefined };
  };
}
