import type { FaultPlan } from '@emissor/virtual-cloud';
import { type FaultClass, faultsOf, faultTime } from '../fault-classes.ts';
import { second } from '../times.ts';

/** Returns what goes wrong in a class: the same as for delivery, but that the spells are of the tables that logins need. */
export function tokenFaultsOf(name: FaultClass): FaultPlan {
  const plan = faultsOf(name);
  return plan.spells ? { ...plan, spells } : plan;
}

const within = faultTime;
const unanswered = { request_lost: 0.4, answer_lost: 0.4 };
const throttled = { throttled: 0.8 };

/** Spells in which a table leaves most calls unanswered, and others in which it refuses them at once. */
const spells: FaultPlan['spells'] = [
  { service: 'dynamodb', resource: 'Lockouts', count: 3, length: 8 * second, within, shares: unanswered },
  { service: 'dynamodb', resource: 'Lockouts', count: 3, length: 8 * second, within, shares: throttled },
  { service: 'dynamodb', resource: 'Sessions', count: 3, length: 8 * second, within, shares: unanswered },
  { service: 'dynamodb', resource: 'Sessions', count: 3, length: 8 * second, within, shares: throttled },
  { service: 'dynamodb', count: 2, length: 4 * second, within, shares: unanswered },
  { service: 'kms', count: 2, length: 15 * second, within, shares: { failed: 1 } },
];
