import { randomUUID } from 'node:crypto';
import { account, region } from '../assembly/identities.ts';
import type { Invoke } from '../lambda/invocation.ts';

/** What a schedule stands on. */
export interface ScheduleDependencies {
  readonly ruleArn: string;
  /** Milliseconds. */
  readonly period: number;
  /** The JSON handed to the function instead of the event. */
  readonly input?: string;
  readonly invoke: Invoke;
}

/** The event that EventBridge makes of a schedule that is due. */
export function scheduledEvent(ruleArn: string, moment: Date) {
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account,
    time: moment.toISOString().replace(/\.\d+Z$/, 'Z'),
    region,
    resources: [ruleArn],
    detail: {},
  };
}

/** Starts a schedule; its function runs first when one period has passed. @returns what stops it. */
export function startSchedule({ ruleArn, period, input, invoke }: ScheduleDependencies): () => void {
  let timer: NodeJS.Timeout;
  const waitFor = (milliseconds: number): void => {
    const part = Math.min(milliseconds, longestTimer);
    timer = setTimeout(() => {
      if (milliseconds > part) return waitFor(milliseconds - part);
      void invoke(input ?? JSON.stringify(scheduledEvent(ruleArn, new Date())));
      waitFor(period);
    }, part);
  };
  waitFor(period);
  return () => clearTimeout(timer);
}

/** Timers take no longer waits. */
const longestTimer = 2_147_483_647;
