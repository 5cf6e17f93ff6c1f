import { assumptions } from './assumptions.ts';
import type { Quantities } from './prices.ts';

/** The actions that are counted. */
export const actions = [
  'login',
  'refresh',
  'quiet',
  'busy',
  'exhausted',
  'exhaustedEmpty',
  'registration',
  'test',
  'withoutWebhook',
] as const;

export type Action = (typeof actions)[number];

/** The counts of one action. Of a batch they are shares. */
export interface Counts {
  /** Requests to an HTTP API. */
  readonly apiRequests: number;
  readonly invocations: number;
  /** Of the functions that were invoked. */
  readonly megabytes: number;
  readonly storeCalls: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Sent, received, deleted and hidden, by the functions, their triggers and the publisher. */
  readonly queueRequests: number;
  /** Those of them that are about the events queue, whose messages have groups. */
  readonly fairQueueRequests: number;
  readonly keyRequests: number;
  readonly logLines: number;
  readonly logBytes: number;
  /** Of the APIs' access logs, which have a line for each request. */
  readonly accessLogBytes: number;
}

/** Those of them that are counted: the others are known. */
export type SteadyCounts = Pick<
  Counts,
  | 'invocations'
  | 'storeCalls'
  | 'readUnits'
  | 'writeUnits'
  | 'queueRequests'
  | 'fairQueueRequests'
  | 'logLines'
  | 'logBytes'
>;

/** The counts of each action, and of one run of the sweeper. */
export interface Measured {
  readonly actions: Readonly<Record<Action, Counts>>;
  readonly sweep: Counts;
}

/** Returns each count divided by a number. */
export function shareOf(counts: SteadyCounts, share: number): SteadyCounts {
  const entries = Object.entries(counts).map(([name, value]) => [name, value / share]);
  return Object.fromEntries(entries);
}

/** Returns the quantities that AWS charges for an action, and the milliseconds that they suppose of an invocation. */
export function quantitiesOf(action: Action, counts: Counts): Quantities {
  const { apiRequests, invocations, megabytes } = counts;
  const logBytes = counts.logBytes + counts.accessLogBytes;
  return {
    apiRequest: apiRequests,
    invocation: invocations,
    gigabyteSecond: (invocations * millisecondsOf(action, counts) * megabytes) / 1_024 / 1_000,
    writeUnit: counts.writeUnits,
    readUnit: counts.readUnits,
    queueRequest: counts.queueRequests,
    fairQueueRequest: counts.fairQueueRequests,
    keyRequest: counts.keyRequests,
    logGigabyte: (logBytes + (counts.logLines + apiRequests) * assumptions.perLineBytes) / 1e9,
  };
}

/** Returns the milliseconds that an invocation is taken to last: it computes, calls the store, and may wait for receivers, all at once. */
export function millisecondsOf(action: Action, { invocations, megabytes, storeCalls }: Counts): number {
  const { processorMs, timesSlower, processorMegabytes, storeCallMs, receiverMs } = assumptions;
  const share = Math.min(1, megabytes / processorMegabytes);
  const own = (processorMs[action] * timesSlower) / share + (storeCalls / invocations) * storeCallMs;
  return own + waiting[action] * receiverMs;
}

/** The share of an action's invocations that wait for a receiver. Of a test's three one does: the API and the retry lane hand it on. */
const waiting: Readonly<Record<Action, number>> = {
  login: 0,
  refresh: 0,
  quiet: 1,
  busy: 1,
  exhausted: 1,
  exhaustedEmpty: 1,
  registration: 0,
  test: 1 / 3,
  withoutWebhook: 0,
};
