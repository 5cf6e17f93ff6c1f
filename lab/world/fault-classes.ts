import type { FaultPlan } from '@emissor/virtual-cloud';
import { minute, second } from './times.ts';

/** The names of the classes of faults. */
export const faultClasses = ['calm', 'calls', 'spells', 'deaths', 'all'] as const;

/** A class of faults. */
export type FaultClass = (typeof faultClasses)[number];

/** Returns what goes wrong in a class, until the faults end. */
export function faultsOf(name: FaultClass): FaultPlan {
  return plans[name];
}

/** Faults end after this time. */
export const faultTime = 3 * minute;

/** Shares of the tries of calls. A POST to a receiver is a call, too. */
const badCalls = { throttled: 0.02, failed: 0.01, request_lost: 0.015, answer_lost: 0.015, slow: 0.03 };
const deaths = { dies_before: 0.003, dies_after: 0.003 };

/** Some seconds in which a service leaves most calls unanswered. */
const unanswered = { request_lost: 0.4, answer_lost: 0.4 };
const spells: FaultPlan['spells'] = [
  { service: 'dynamodb', count: 4, length: 5 * second, within: faultTime, shares: unanswered },
  { service: 'sqs', count: 2, length: 8 * second, within: faultTime, shares: unanswered },
  { service: 'kms', count: 2, length: 15 * second, within: faultTime, shares: { failed: 1 } },
];

const plans: Readonly<Record<FaultClass, FaultPlan>> = {
  calm: {},
  calls: { shares: badCalls, refusedSends: 0.02 },
  spells: { spells },
  deaths: { shares: deaths },
  all: { shares: { ...badCalls, ...deaths }, spells, refusedSends: 0.02, copies: 0.02, skew: 100 },
};
