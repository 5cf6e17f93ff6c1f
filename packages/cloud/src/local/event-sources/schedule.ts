import * as z from 'zod';
import { functionNameIn } from '../assembly/identities.ts';
import { type LiveResource, readProperties } from '../assembly/resources.ts';
import { StartError } from '../errors.ts';

/** A schedule that invokes a function at a fixed rate. */
interface Schedule {
  /** The period in milliseconds. */
  readonly period: number;
  readonly functionName: string;
}

/** Parses a schedule in the template. @throws {StartError} if it is not supported locally */
export function scheduleOf(resource: LiveResource): Schedule {
  const { ScheduleExpression: expression, Targets } = readProperties(ruleSchema, resource);
  const [, count, unit = ''] = /^rate\(([1-9]\d*) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const period = Number(count) * (unitMilliseconds[unit] ?? Number.NaN);
  if (!(period <= maxPeriod))
    throw new StartError(`${resource.name}: the schedule ${expression} is not supported locally.`);
  const [{ Arn }] = Targets;
  const functionName = functionNameIn(Arn);
  if (!functionName) throw new StartError(`${resource.name}: schedules support only functions, not ${Arn}.`);
  return { period, functionName };
}

const unitMilliseconds: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** The maximum delay of a timer, in milliseconds. */
const maxPeriod = 2_147_483_647;

const ruleSchema = z.object({
  State: z.literal('ENABLED').default('ENABLED'),
  ScheduleExpression: z.string(),
  Targets: z.tuple([z.object({ Arn: z.string() })]),
});
