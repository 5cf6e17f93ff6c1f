import type { Lane } from '../lane-routing.ts';
import { storedFromReceive } from '../limits.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { type SlownessOwner, slownessId } from './slow-since.ts';

/**
 * The verdict on a message that was received. `shed`: the process has as many messages of its webhook in hand as it may. Nothing
 * is read or stored, and the message has to come back in a moment.
 */
type Admission = { readonly outcome: 'shed' } | AdmittedMessage;

export interface AdmittedMessage {
  readonly outcome: 'admitted';
  /** True when this process may make its attempt; otherwise it is left to the retry lane. */
  readonly mayAttempt: boolean;
  /** Ends it: must be called once the message was processed. */
  leave(): void;
}

/** Judges a message of an account's event. `receiveCount`: how many times it was received by now. */
export type Admit = (owner: SlownessOwner, receiveCount: number) => Admission;

/**
 * Returns the judgement of a process. What a webhook's burst would cost beyond its places is not even read: of ten messages that
 * are shed, one call is made. One that was shed four times is admitted, so that none stays out of sight for more than 15 s. The slow
 * lane has no limit: there each webhook is paced.
 */
export function makeAdmission({ limit, lane }: { readonly limit: ConcurrencyLimit; readonly lane: Lane }): Admit {
  return function admit(owner, receiveCount) {
    if (lane === 'slow') return { outcome: 'admitted', mayAttempt: true, leave: () => undefined };
    const leave = limit.enter(slownessId(owner));
    if (leave) return { outcome: 'admitted', mayAttempt: true, leave };
    if (receiveCount < storedFromReceive) return { outcome: 'shed' };
    return { outcome: 'admitted', mayAttempt: false, leave: () => undefined };
  };
}
