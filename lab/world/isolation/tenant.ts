import type { EventName } from '../../../lambdas/webhooks/webhook.ts';
import type { Random } from '../../../tools/support/random.ts';
import { type Account, eventName, type Publication, publicationOf } from '../arrival.ts';

/** The measured part of a run, in milliseconds from the start. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

/** One webhook, with its owner and its events. */
export interface Tenant {
  readonly account: string;
  /** The name of the webhook, from which its receiver's host is derived. */
  readonly webhook: string;
  /** The event of its registration, instead of `eventName`. */
  readonly event?: EventName;
  /** The waits of an `innocent` are measured. A `bystander` is also measured, but responds slowly. */
  readonly part: 'innocent' | 'bystander' | 'attacker';
  /** The publishing times of its events, in order, in milliseconds from the start. */
  readonly publishes: readonly number[];
  /** Returns the behaviour for an attempt, by the time since the start. */
  readonly behave: Behave;
  /** Milliseconds until its host name is resolved. */
  readonly resolves: number;
  /** The interval at which it replaces its URL, in milliseconds. */
  readonly putEvery?: number;
  /** The number of waiting deliveries that it resends a minute after the period started. */
  readonly resends?: number;
  /** True if its events are failed deliveries, which are replayed when the period starts. */
  readonly isReplayed?: boolean;
}

/** The behaviour of a receiver in each attempt. */
export type Behave = (
  random: Random,
  event: { /** From 1. */ readonly attempt: number; readonly number: number },
  now: number,
) => Behaviour;

/** A receiver's behaviour in one attempt. */
export interface Behaviour {
  /** Milliseconds, or `Infinity` if it never responds. */
  readonly answers: number;
  readonly isSuccess: boolean;
}

/** Returns the publishing times of one webhook's events. */
export type Publishes = (period: Period, random: Random) => number[];

export interface TenantEvent {
  readonly tenant: Tenant;
  /** The index of the event, from 0. */
  readonly number: number;
  /** Milliseconds from the start. */
  readonly due: number;
  readonly publication: Publication;
}

/** Publishes independent events at a mean rate a second. */
export function atRate(rate: number): Publishes {
  return ({ from, until }, random) => {
    const moments: number[] = [];
    for (let moment = from; ; ) {
      moment += (-Math.log(1 - random()) * 1_000) / rate;
      if (moment >= until) return moments;
      moments.push(moment);
    }
  };
}

/** Publishes a number of events at the start. */
export function atOnce(events: number): Publishes {
  return ({ from }) => new Array(events).fill(from + 1);
}

/** Publishes bursts of a number of events, one at each interval in milliseconds. */
export function burstsEvery(interval: number, events = 1): Publishes {
  return ({ from, until }) =>
    Array.from({ length: Math.ceil((until - from) / interval) }, (_, index) =>
      new Array<number>(events).fill(from + 1 + index * interval),
    ).flat();
}

/** Returns the event of a tenant's registration. */
export function eventOf({ event = eventName }: Pick<Tenant, 'event'>): EventName {
  return event;
}

/** Returns the account of a tenant, as a world has it. */
export function accountOf(tenant: Tenant): Account {
  return {
    id: tenant.account,
    host: hostOf(tenant),
    kind: 'of an isolation run',
    isRestless: false,
    event: eventOf(tenant),
  };
}

/** Returns the host name of a tenant's receiver. */
export function hostOf({ webhook }: Pick<Tenant, 'webhook'>): string {
  return `${webhook}.example.com`;
}

/** Returns all events of tenants. */
export function eventsOf(tenants: readonly Tenant[]): readonly TenantEvent[] {
  return tenants.flatMap(tenant =>
    tenant.publishes.map((due, number) => ({
      ...{ tenant, number, due },
      publication: publicationOf({ ...tenant, at: due, number }, { id_proposta: number + 1 }),
    })),
  );
}
