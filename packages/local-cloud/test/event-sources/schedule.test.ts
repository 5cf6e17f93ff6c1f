import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LiveResource } from '../../src/assembly/resources.ts';
import { eventSourceOf } from '../../src/event-sources/mapping.ts';
import { periodOf, scheduledEvent, scheduleOf, startSchedule } from '../../src/event-sources/schedule.ts';

const arn = 'arn:aws:lambda:us-east-1:000000000000:function:sweep';
const resource = (type: LiveResource['type'], properties: Record<string, unknown>): LiveResource => ({
  stack: 'App',
  logicalId: 'Thing',
  type,
  properties,
});

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

describe('definitions', () => {
  it.each([
    ['rate(1 minute)', 60_000],
    ['rate(5 minutes)', 300_000],
    ['rate(2 hours)', 7_200_000],
    ['rate(1 day)', 86_400_000],
    ['rate(0 minutes)', undefined],
    ['cron(0 12 * * ? *)', undefined],
  ])('%s', (expression, period) => {
    expect(periodOf(expression)).toBe(period);
  });

  it('a rule that is disabled, one without a rate, one without a function', () => {
    const rule = (properties: Record<string, unknown>) => scheduleOf(resource('AWS::Events::Rule', properties), 'rule');
    expect(rule({ ScheduleExpression: 'rate(1 day)', State: 'DISABLED' })).toBeUndefined();
    expect(rule({ ScheduleExpression: 'rate(1 day)', Targets: [{ Arn: arn }] })).toEqual({
      ruleArn: 'rule',
      period: 86_400_000,
      targets: [{ functionName: 'sweep' }],
    });
    expect(() => rule({ ScheduleExpression: 'cron(0 12 * * ? *)' })).toThrow(/App\/Thing: locally only rate/);
    expect(() => rule({ ScheduleExpression: 'rate(1 day)', Targets: [{ Arn: 'arn:aws:sqs:x' }] })).toThrow(
      /functions only/,
    );
  });

  it('an event source as the CDK writes it', () => {
    const mapping = {
      EventSourceArn: 'arn:aws:sqs:us-east-1:000000000000:events',
      FunctionName: 'deliver',
      BatchSize: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 4 },
    };
    expect(eventSourceOf(resource('AWS::Lambda::EventSourceMapping', mapping))).toEqual({
      queueArn: mapping.EventSourceArn,
      functionName: 'deliver',
      batchSize: 10,
      batchingWindow: 0,
      reportsItemFailures: true,
      concurrency: 4,
    });
    const kinesis = { ...mapping, EventSourceArn: 'arn:aws:kinesis:x' };
    expect(() => eventSourceOf(resource('AWS::Lambda::EventSourceMapping', kinesis))).toThrow(/only SQS queues/);
    const filtered = { ...mapping, FilterCriteria: { Filters: [] } };
    expect(() => eventSourceOf(resource('AWS::Lambda::EventSourceMapping', filtered))).toThrow(
      /filters are not supported/,
    );
  });
});
