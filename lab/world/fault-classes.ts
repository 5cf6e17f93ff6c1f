import type { FaultPlan } from '@emissor/cloud/virtual';
import { minute, second } from './times.ts';

export const faultClasses = ['none', 'calls', 'outages', 'crashes', 'all'] as const;

export type FaultClass = (typeof faultClasses)[number];

export function faultsOf(name: FaultClass): FaultPlan {
  return plans[name];
}

/** Returns the fault plan of a class for token worlds. Most of its outages affect the tables that logins use. */
export function tokenFaultsOf(name: FaultClass): FaultPlan {
  const plan = plans[name];
  return plan.outages ? { ...plan, outages: tokenOutages } : plan;
}

/** The time at which faults end, in milliseconds after the start. */
export const faultTime = 3 * minute;

/** The share of call attempts with each fault. A POST to a receiver is also a call. */
const callFaults = { throttled: 0.02, failed: 0.01, request_lost: 0.015, response_lost: 0.015, slow: 0.03 };
const crashes = { dies_before: 0.003, dies_after: 0.003 };

/** The shares of calls with each fault during an outage. */
const mostlyLost = { request_lost: 0.4, response_lost: 0.4 };
const mostlyThrottled = { throttled: 0.8 };
const within = faultTime;
const outages: FaultPlan['outages'] = [
  { service: 'dynamodb', count: 4, length: 5 * second, within, shares: mostlyLost },
  { service: 'sqs', count: 2, length: 8 * second, within, shares: mostlyLost },
  { service: 'kms', count: 2, length: 15 * second, within, shares: { failed: 1 } },
  { service: 'dynamodb', resource: 'Deliveries', count: 1, length: 30 * second, within, shares: mostlyThrottled },
  { service: 'dynamodb', resource: 'Webhooks', count: 1, length: 30 * second, within, shares: mostlyThrottled },
  { service: 'sns', count: 1, length: 75 * second, within: minute, shares: { failed: 1 } },
];

const tokenOutages: FaultPlan['outages'] = [
  { service: 'dynamodb', resource: 'Lockouts', count: 3, length: 8 * second, within, shares: mostlyLost },
  { service: 'dynamodb', resource: 'Lockouts', count: 3, length: 8 * second, within, shares: mostlyThrottled },
  { service: 'dynamodb', resource: 'Sessions', count: 3, length: 8 * second, within, shares: mostlyLost },
  { service: 'dynamodb', resource: 'Sessions', count: 3, length: 8 * second, within, shares: mostlyThrottled },
  { service: 'dynamodb', count: 2, length: 4 * second, within, shares: mostlyLost },
  { service: 'kms', count: 2, length: 15 * second, within, shares: { failed: 1 } },
];

const plans: Readonly<Record<FaultClass, FaultPlan>> = {
  none: {},
  calls: { shares: callFaults, refusedEntries: 0.02 },
  outages: { outages: outages },
  crashes: { shares: crashes },
  all: { shares: { ...callFaults, ...crashes }, outages: outages, refusedEntries: 0.02, copies: 0.02, skew: 100 },
};
