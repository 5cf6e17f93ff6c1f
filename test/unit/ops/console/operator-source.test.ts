import { describe, expect, it } from 'vitest';
import { makeOperatorSource } from '../../../../ops/console/operator-source.ts';
import { localTarget } from '../../../../ops/stage/target.ts';
import { thisWorld } from '../../../../ops/stage/world.ts';
import { frozenClock } from '../../../support/clock.ts';

const nobody = { DynamoDbEndpoint: 'http://127.0.0.1:1', Region: 'us-east-1', WebhooksTable: 'Webhooks' };

/** Returns how a source describes the failure of a call. */
const failure = async (
  outputs: Record<string, string>,
  call: (source: ReturnType<typeof makeOperatorSource>) => unknown,
) => {
  const source = makeOperatorSource(localTarget(outputs));
  const error = await Promise.resolve(call(source)).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return source.describeFailure?.(error);
};

it('tells the time of its target', () => {
  const target = localTarget({}, { ...thisWorld, time: frozenClock().time });
  target.clock.learn('Fri, 20 Nov 2026 12:10:00 GMT', target.clock.now());
  expect(makeOperatorSource(target).now?.()).toBe(Date.UTC(2026, 10, 20, 12, 10));
});

describe('a failure on an operator’s page', () => {
  it.each([
    ['a run that does not answer', nobody, /^no local run found: start one with npm start/],
    [
      'a run of another version',
      {},
      /^the local run has no output "WebhooksTable": deploy or start this version first\.$/,
    ],
  ])('is described as the command line does: %s', async (_case, outputs, sentence) => {
    expect(await failure(outputs, source => source.listWebhooks('acme'))).toMatch(sentence);
  });

  it('is a refusal in its own words', async () => {
    expect(await failure(nobody, source => source.test('acme', 'nothing'))).toBe('There is no event "nothing".');
  });
});
