import { expect, it } from 'vitest';
import { scheduleOf } from '../../../src/local/event-sources/schedule.ts';
import { liveResource } from '../live-resource.ts';

const sweep = 'arn:aws:lambda:us-east-1:000000000000:function:sweep:live';
const read = (ScheduleExpression: string, Arn = sweep) =>
  scheduleOf(liveResource('AWS::Events::Rule', { ScheduleExpression, Targets: [{ Arn }] }));

it.each([
  ['rate(1 minute)', 60_000],
  ['rate(2 hours)', 7_200_000],
  ['rate(1 day)', 86_400_000],
])('parses %s as a period of %i ms', (expression, period) => {
  expect(read(expression)).toEqual({ period, functionName: 'sweep' });
});

it.each([
  ['rate(0 minutes)', sweep, 'App-Thing: the schedule rate(0 minutes) is not supported locally.'],
  ['rate(25 days)', sweep, 'is not supported locally'],
  ['cron(0 12 * * ? *)', sweep, 'is not supported locally'],
  ['rate(1 day)', 'arn:aws:sqs:x', 'schedules support only functions'],
])('rejects the schedule %s with the target %s', (expression, target, message) => {
  expect(() => read(expression, target)).toThrow(message);
});
