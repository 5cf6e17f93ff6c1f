import type { EventName } from '../../../lambdas/webhooks/webhook.ts';
import type { Random } from '../../../tools/support/random.ts';
import { type Account, eventName, type Publication, publicationOf } from '../arrival.ts';

/** The measured part of a run, in milliseconds from the start. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

/** A webhook, with its owner and its events. */
export interface Tenant {
  readonly account: string;
  /** The name of the webhook, which determines the host name of its receiver. */
  readonly webhook: string;
  /** The event of the webhook. @default eventName */
  readonly event?: EventName;
  /** A `bystander` responds slowly, but does not attack. */
  readonly role: 'healthy' | 'bystander' | 'attacker';
  /** The times at which the events are published, in ascending order, in milliseconds from the start. */
  readonly publishTimes: readonly number[];
  /** Returns the behaviour of the receiver for an attempt. */
  readonly behave: Behave;
  /** The resolution time of the host name, in milliseconds. */
  readonly resolutionMs: number;
  /** The interval at which the owner replaces the URL, in milliseconds. */
  readonly putIntervalMs?: number;
  /** The number of waiting deliveries that the owner resends 1 minute after the start of the period. */
  readonly resends?: number;
  /** True if the events are failed deliveries, which the owner replays when the period starts. */
  readonly isReplayed?: boolean;
}

/** Returns the behaviour of a receiver for an attempt. `now` is in milliseconds from the start. */
export type Behave = (
  random: Random,
  event: { /** The number of the attempt, from 1. */ readonly attempt: number; readonly number: number },
  now: number,
) => Behaviour;

/** The behaviour of a receiver for one attempt. */
export interface Behaviour {
  /** The response time in milliseconds, or `Infinity` if the receiver never responds. */
  readonly responseMs: number;
  readonly isSuccess: boolean;
}

/** Returns the times at which a webhook's events are published. */
export type PublishPlan = (period: Period, random: Random) => number[];

export interface TenantEvent {
  readonly tenant: Tenant;
  /** The index of the event, from 0. */
  readonly number: number;
  /** The time at which the event is published, in milliseconds from the start. */
  readonly dueAt: number;
  readonly publication: Publication;
}

/** Plans independent events at a mean rate, in events per second. */
export function atRate(rate: number): PublishPlan {
  return ({ from, until }, random) => {
    const times: number[] = [];
    for (let time = from; ; ) {
      time += (-Math.log(1 - random()) * 1_000) / rate;
      if (time >= until) return times;
      times.push(time);
    }
  };
}

/** Plans a burst of `events` events at the start of the period. */
export function atOnce(events: number): PublishPlan {
  return ({ from }) => new Array(events).fill(from + 1);
}

/** Plans a burst of `events` events per interval, in milliseconds. */
export function burstsEvery(interval: number, events = 1): PublishPlan {
  return ({ from, until }) =>
    Array.from({ length: Math.ceil((until - from) / interval) }, (_, index) =>
      new Array<number>(events).fill(from + 1 + index * interval),
    ).flat();
}

export function eventOf({ event = eventName }: Pick<Tenant, 'event'>): EventName {
  return event;
}

/** Converts a tenant to an account of a world. */
export function accountOf(tenant: Tenant): Account {
  return {
    id: tenant.account,
    host: hostOf(tenant),
    kind: 'of an isolation run',
    isModified: false,
    event: eventOf(tenant),
  };
}

/** Returns the host name of a tenant's receiver. */
export function hostOf({ webhook }: Pick<Tenant, 'webhook'>): string {
  return `${webhook}.example.com`;
}

export function eventsOf(tenants: readonly Tenant[]): readonly TenantEvent[] {
  return tenants.flatMap(tenant =>
    tenant.publishTimes.map((dueAt, number) => ({
      ...{ tenant, number, dueAt },
      publication: publicationOf({ ...tenant, at: dueAt, number }, { id_proposta: number + 1 }),
    })),
  );
}
