import type { FaultPlan } from '@emissor/cloud/virtual';
import { minute, second } from './times.ts';

export const faultClasses = ['calm', 'calls', 'spells', 'deaths', 'all'] as const;

export type FaultClass = (typeof faultClasses)[number];

/** Returns the fault plan of a class. */
export function faultsOf(name: FaultClass): FaultPlan {
  return plans[name];
}

/** Returns the fault plan of a class for worlds of tokens. Its outages affect the tables that logins use. */
export function tokenFaultsOf(name: FaultClass): FaultPlan {
  const plan = plans[name];
  return plan.spells ? { ...plan, spells: tokenSpells } : plan;
}

/** The time from the start at which faults end. */
export const faultTime = 3 * minute;

/** The share of call attempts with each fault. A POST to a receiver is also a call. */
const callFaults = { throttled: 0.02, failed: 0.01, request_lost: 0.015, answer_lost: 0.015, slow: 0.03 };
const deaths = { dies_before: 0.003, dies_after: 0.003 };

/** Outages of several seconds, in which a service loses most calls or rejects them immediately. */
const unanswered = { request_lost: 0.4, answer_lost: 0.4 };
const throttled = { throttled: 0.8 };
const within = faultTime;
const spells: FaultPlan['spells'] = [
  { service: 'dynamodb', count: 4, length: 5 * second, within, shares: unanswered },
  { service: 'sqs', count: 2, length: 8 * second, within, shares: unanswered },
  { service: 'kms', count: 2, length: 15 * second, within, shares: { failed: 1 } },
  { service: 'dynamodb', resource: 'Deliveries', count: 1, length: 30 * second, within, shares: throttled },
  { service: 'dynamodb', resource: 'Webhooks', count: 1, length: 30 * second, within, shares: throttled },
  { service: 'sns', count: 1, length: 75 * second, within: minute, shares: { failed: 1 } },
];

/** Outages in which a table loses most calls or rejects them immediately. */
const tokenSpells: FaultPlan['spells'] = [
  { service: 'dynamodb', resource: 'Lockouts', count: 3, length: 8 * second, within, shares: unanswered },
  { service: 'dynamodb', resource: 'Lockouts', count: 3, length: 8 * second, within, shares: throttled },
  { service: 'dynamodb', resource: 'Sessions', count: 3, length: 8 * second, within, shares: unanswered },
  { service: 'dynamodb', resource: 'Sessions', count: 3, length: 8 * second, within, shares: throttled },
  { service: 'dynamodb', count: 2, length: 4 * second, within, shares: unanswered },
  { service: 'kms', count: 2, length: 15 * second, within, shares: { failed: 1 } },
];

const plans: Readonly<Record<FaultClass, FaultPlan>> = {
  calm: {},
  calls: { shares: callFaults, refusedEntries: 0.02 },
  spells: { spells },
  deaths: { shares: deaths },
  all: { shares: { ...callFaults, ...deaths }, spells, refusedEntries: 0.02, copies: 0.02, skew: 100 },
};
