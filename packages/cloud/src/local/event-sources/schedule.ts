import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { account, functionNameIn, region } from '../assembly/identities.ts';
import { type LiveResource, readProperties } from '../assembly/resources.ts';
import { StartError } from '../errors.ts';
import type { Invoke } from '../lambda/invocation.ts';

/** A rule that runs functions at a fixed rate. */
export interface ScheduleDefinition {
  readonly ruleArn: string;
  /** Milliseconds. */
  readonly period: number;
  readonly targets: readonly { readonly functionName: string; readonly input: string | undefined }[];
}

/** Reads a schedule of the template; `undefined` when it is disabled, or waits for events, which nothing sends locally. @throws {StartError} */
export function scheduleOf(resource: LiveResource, ruleArn: string): ScheduleDefinition | undefined {
  const { State, ScheduleExpression, Targets } = readProperties(ruleSchema, resource);
  if (State === 'DISABLED' || ScheduleExpression === undefined) return undefined;
  const name = `${resource.stack}/${resource.logicalId}`;
  const period = periodOf(ScheduleExpression);
  if (period === undefined)
    throw new StartError(`${name}: locally only rate(…) schedules run, not ${ScheduleExpression}.`);
  const targets = Targets.map(({ Arn, Input }) => {
    const functionName = functionNameIn(Arn);
    if (!functionName) throw new StartError(`${name}: locally schedules run functions only, not ${Arn}.`);
    return { functionName, input: Input };
  });
  return { ruleArn, period, targets };
}

/** Returns the event that EventBridge makes of a schedule that is due. */
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

/** Starts a schedule; its function runs for the first time after one period. @returns what stops it. */
export function startSchedule({
  ruleArn,
  period,
  input,
  invoke,
}: {
  readonly ruleArn: string;
  /** Milliseconds. */
  readonly period: number;
  /** The JSON that the function gets instead of the event. */
  readonly input?: string | undefined;
  readonly invoke: Invoke;
}): () => void {
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

/** The longest wait of a timer, in milliseconds. */
const longestTimer = 2_147_483_647;

/** Returns the milliseconds of `rate(5 minutes)`; `undefined` for anything else. */
function periodOf(expression: string): number | undefined {
  const [, count, unit] = /^rate\(([1-9]\d*) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const milliseconds = unitMilliseconds[unit ?? ''];
  return milliseconds === undefined ? undefined : Number(count) * milliseconds;
}

const unitMilliseconds: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

const ruleSchema = z.object({
  State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
  ScheduleExpression: z.string().optional(),
  Targets: z.array(z.object({ Arn: z.string(), Input: z.string().optional() })).default([]),
});
