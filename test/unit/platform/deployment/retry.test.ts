import { expect, it } from 'vitest';
import { noResponse, withRetries } from '../../../../lambdas/platform/deployment/retry.ts';
import { frozenClock } from '../../../support/clock.ts';

// A call is retried after transient failures, because new permissions take some seconds to become effective.

const named = (name: string, more: object = {}) => Object.assign(new Error('refused'), { name, ...more });

/** Makes a call with retries for 40 s. Time passes only during pauses. */
async function run(failureOf: (call: number) => Error | undefined) {
  const clock = frozenClock();
  const start = clock.now();
  let calls = 0;
  const pause = async (milliseconds: number) => clock.advance(milliseconds);
  const result = await withRetries({ now: clock.now, pause }, 40_000, async () => {
    calls += 1;
    const failure = failureOf(calls);
    if (failure) throw failure;
    return 'done';
  }).catch((error: Error) => error.name);
  return { result, calls, seconds: (clock.now() - start) / 1_000 };
}

it('returns the result of the first successful call', async () => {
  expect(await run(() => undefined)).toEqual({ result: 'done', calls: 1, seconds: 0 });
  const denied = named('AccessDeniedException');
  expect(await run(call => (call < 4 ? denied : undefined))).toEqual({ result: 'done', calls: 4, seconds: 15 });
});

it.each([
  named('AccessDeniedException'),
  named('ThrottlingException'),
  named('TooManyRequestsException', { $metadata: { httpStatusCode: 429 } }),
  named('ServiceException', { $metadata: { httpStatusCode: 503 } }),
  named('TimeoutError'),
  named('Error', { code: 'ECONNRESET' }),
  named(noResponse),
])('fails after 40 s of %o', async failure => {
  expect(await run(() => failure)).toEqual({ result: failure.name, calls: 9, seconds: 40 });
});

it.each([new TypeError('bug'), named('ValidationException', { $metadata: { httpStatusCode: 400 } })])(
  'does not repeat a call that fails with %o',
  async failure => {
    expect(await run(() => failure)).toEqual({ result: failure.name, calls: 1, seconds: 0 });
  },
);
