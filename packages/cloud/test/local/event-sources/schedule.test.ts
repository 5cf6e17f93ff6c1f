import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { scheduledEvent, scheduleOf, startSchedule } from '../../../src/local/event-sources/schedule.ts';
import { liveResource } from '../live-resource.ts';

describe('a schedule', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('runs first after one period, then every period, until it is stopped', () => {
    const payloads: string[] = [];
    const invoke = async (payload: string) => {
      payloads.push(payload);
      return { outcome: 'returned', payload: 'null' } as const;
    };
    const stop = startSchedule({ ruleArn: 'rule', period: 60_000, invoke });
    vi.advanceTimersByTime(59_999);
    expect(payloads).toHaveLength(0);
    vi.advanceTimersByTime(60_001);
    expect(payloads).toHaveLength(2);
    expect(JSON.parse(payloads[0] ?? '')).toMatchObject({ 'detail-type': 'Scheduled Event', resources: ['rule'] });
    stop();
    vi.advanceTimersByTime(600_000);
    expect(payloads).toHaveLength(2);
  });

  it('may have a period longer than the longest timer', () => {
    const invoke = vi.fn(async () => ({ outcome: 'returned', payload: 'null' }) as const);
    const days = 86_400_000;
    const stop = startSchedule({ ruleArn: 'rule', period: 90 * days, input: '{"a":1}', invoke });
    vi.advanceTimersByTime(89 * days);
    expect(invoke).not.toHaveBeenCalled();
    vi.advanceTimersByTime(days);
    expect(invoke.mock.calls).toEqual([['{"a":1}']]);
    stop();
  });

  it("hands over EventBridge's event", () => {
    expect(scheduledEvent('rule', new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 678)))).toMatchObject({
      version: '0',
      source: 'aws.events',
      account: '000000000000',
      time: '2026-01-02T03:04:05Z',
      detail: {},
    });
  });
});

describe('a rule of the template', () => {
  const Targets = [{ Arn: 'arn:aws:lambda:us-east-1:000000000000:function:sweep' }];
  const scheduleIn = (properties: object) => scheduleOf(liveResource('AWS::Events::Rule', properties), 'rule');

  it.each([
    ['rate(1 minute)', 60_000],
    ['rate(5 minutes)', 300_000],
    ['rate(2 hours)', 7_200_000],
    ['rate(1 day)', 86_400_000],
  ])('may have the schedule %s', (ScheduleExpression, period) => {
    const targets = [{ functionName: 'sweep' }];
    expect(scheduleIn({ ScheduleExpression, Targets })).toEqual({ ruleArn: 'rule', period, targets });
  });

  it.each([
    ['rate(0 minutes)', Targets, 'App/Thing: locally only rate(…) schedules run'],
    ['cron(0 12 * * ? *)', Targets, 'App/Thing: locally only rate(…) schedules run'],
    ['rate(1 day)', [{ Arn: 'arn:aws:sqs:x' }], 'locally schedules run functions only'],
  ])('is refused with the schedule %s and the targets %j', (ScheduleExpression, targets, message) => {
    expect(() => scheduleIn({ ScheduleExpression, Targets: targets })).toThrow(message);
  });

  it('may be disabled', () => {
    expect(scheduleIn({ ScheduleExpression: 'rate(1 day)', State: 'DISABLED', Targets })).toBeUndefined();
  });
});
