import type { EventName } from '../../../lambdas/webhooks/webhook.ts';
import type { Random } from '../../../tools/support/random.ts';

/** The part of a run that is measured, in milliseconds from the beginning. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

/** One webhook, whose it is, and what it is sent. */
export interface Tenant {
  readonly account: string;
  /** The name of the webhook, of which its receiver's host has its name. */
  readonly webhook: string;
  /** The event that it is registered for, in place of `eventName`. */
  readonly event?: EventName;
  /** `innocent`: its waits are measured; `bystander`: the same, but it answers slowly. */
  readonly part: 'innocent' | 'bystander' | 'attacker';
  /** The moments when its events are published, in order: milliseconds from the beginning. */
  readonly publishes: readonly number[];
  /** Returns what becomes of an attempt, by the moment from the beginning. */
  readonly behave: Behave;
  /** Milliseconds until its name is resolved. */
  readonly resolves: number;
  /** Replaces its URL once in this time, in milliseconds. */
  readonly putEvery?: number;
  /** Its events are failed deliveries already, and are replayed once the period begins. */
  readonly isReplayed?: boolean;
}

/** A receiver's behaviour, from attempt to attempt. */
export type Behave = (
  random: Random,
  event: { /** From 1. */ readonly attempt: number; readonly number: number },
  now: number,
) => Behaviour;

/** A receiver's behaviour in one attempt. */
export interface Behaviour {
  /** Milliseconds; `Infinity` never comes. */
  readonly answers: number;
  readonly isSuccess: boolean;
}
