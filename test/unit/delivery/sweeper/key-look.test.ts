import { describe, expect, it } from 'vitest';
import { makeKeyLook } from '../../../../lambdas/delivery/sweeper/key-look.ts';
import { frozenClock } from '../../../support/clock.ts';
import { fakeTelemetry } from '../builders.ts';

const keyArn = 'arn:aws:kms:sa-east-1:111122223333:key/1';
const deletedAt = '2026-12-20T00:00:00.000Z';
const named = (name: string) => Object.assign(new Error('…'), { name });

const lookAt = async (time: string, answer: string | Error) => {
  const telemetry = fakeTelemetry();
  const asked: string[] = [];
  const look = makeKeyLook({
    ...telemetry,
    keyArn,
    readKeyState: async key => {
      asked.push(key);
      if (answer instanceof Error) throw answer;
      return { state: answer, deletedAt: answer === 'PendingDeletion' ? deletedAt : undefined };
    },
    now: frozenClock(Date.parse(time)).now,
  });
  await look();
  return { ...telemetry, asked };
};

describe('the look at the keys', () => {
  it.each([
    ['Enabled', {}, []],
    ['Disabled', { KeyNotEnabled: 1 }, [`["key.not_enabled",{"keyArn":"${keyArn}","state":"Disabled"}]`]],
    [
      'PendingDeletion',
      { KeyNotEnabled: 1 },
      [`["key.not_enabled",{"keyArn":"${keyArn}","state":"PendingDeletion","deletedAt":"${deletedAt}"}]`],
    ],
    ['Unavailable', { KeyNotEnabled: 1 }, [`["key.not_enabled",{"keyArn":"${keyArn}","state":"Unavailable"}]`]],
  ] as const)('counts a key only where it is not enabled: %s', async (state, counts, lines) => {
    expect(await lookAt('2026-11-20T12:15:30.000Z', state)).toMatchObject({ counts, lines, asked: [keyArn] });
  });

  it.each([
    ['AccessDeniedException', { KeyNotEnabled: 1 }],
    ['NotFoundException', { KeyNotEnabled: 1 }],
    ['ThrottlingException', {}],
    ['TimeoutError', {}],
  ])(
    'counts a refusal, which lasts, and no failure that passes, and never fails the sweep: %s',
    async (name, counts) => {
      const found = await lookAt('2026-11-20T12:30:00.000Z', named(name));
      expect(found.counts).toEqual(counts);
      expect(found.lines.join()).toContain('key.not_read');
    },
  );

  it.each([
    ['2026-11-20T12:00:00.000Z', 1],
    ['2026-11-20T12:01:00.000Z', 0],
    ['2026-11-20T12:14:59.000Z', 0],
    ['2026-11-20T12:45:59.000Z', 1],
  ])('is taken in the first minute of each quarter of an hour: at %s', async (time, times) => {
    expect((await lookAt(time, 'Enabled')).asked).toHaveLength(times);
  });
});
