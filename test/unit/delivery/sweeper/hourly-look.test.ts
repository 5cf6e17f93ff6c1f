import { describe, expect, it } from 'vitest';
import { makeHourlyLook } from '../../../../lambdas/delivery/sweeper/hourly-look.ts';
import { frozenClock } from '../../../support/clock.ts';
import { fakeTelemetry } from '../builders.ts';

const states: Record<string, string> = { first: 'Enabled', retry: 'Disabled', slow: 'Updating' };

const lookAt = async (time: string, ids = ['first', 'retry', 'slow'], queueFails = false) => {
  const telemetry = fakeTelemetry();
  const asked: string[] = [];
  const look = makeHourlyLook({
    ...telemetry,
    eventSources: ids,
    readEventSourceState: async id => {
      asked.push(id);
      if (id.endsWith('Exception')) throw Object.assign(new Error('…'), { name: id });
      return states[id];
    },
    sqs: {
      send: async ({ input }: { input: { QueueUrl: string } }) => {
        asked.push(input.QueueUrl);
        if (queueFails) throw new Error('…');
        return {};
      },
    } as never,
    deadLetterQueueUrl: 'dead-letters',
    now: frozenClock(Date.parse(time)).now,
  });
  await look();
  return { ...telemetry, asked };
};

describe('the look of each hour', () => {
  it('counts an event source that is switched off, and says which', async () => {
    const { counts, lines } = await lookAt('2026-11-20T12:00:30.000Z');
    expect(counts).toEqual({ SourceOff: 1 });
    expect(lines).toEqual(['["event_source.off",{"id":"retry","state":"Disabled"}]']);
  });

  // Bug: a trigger that was deleted rang nothing, for ever.
  it.each([
    ['ResourceNotFoundException', { SourceOff: 1 }],
    ['AccessDeniedException', { SourceOff: 1 }],
    ['ThrottlingException', {}],
    ['TooManyRequestsException', {}],
  ])('counts where the answer is %s: %j', async (id, expected) => {
    const { counts, lines } = await lookAt('2026-11-20T12:00:30.000Z', [id]);
    expect(counts).toEqual(expected);
    expect(lines.join()).toContain(`"event_source.not_read",{"id":"${id}"`);
  });

  it('counts nothing where all are on: a metric that is written costs money', async () => {
    expect((await lookAt('2026-11-20T12:00:30.000Z', ['first', 'slow'])).counts).toEqual({});
  });

  it('asks for the dead letters, so that their queue goes on reporting', async () => {
    expect((await lookAt('2026-11-20T12:00:30.000Z', [])).asked).toEqual(['dead-letters']);
  });

  it('is taken in no other minute', async () => {
    expect((await lookAt('2026-11-20T12:01:00.000Z')).asked).toEqual([]);
  });

  it('does not fail the sweep', async () => {
    const { counts, lines } = await lookAt('2026-11-20T12:00:00.000Z', ['ThrottlingException', 'retry'], true);
    expect(counts).toEqual({ SourceOff: 1 });
    expect(lines.join()).toContain('queue.not_counted');
  });
});
