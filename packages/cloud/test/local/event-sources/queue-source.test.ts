import { expect, it } from 'vitest';
import { startQueueSource } from '../../../src/local/event-sources/queue-source.ts';
import type { InvocationOutcome, Invoke } from '../../../src/local/lambda/invocation.ts';
import { openQueues } from '../../sqs/open-queues.ts';

/** Starts a source with a queue of one message, in virtual time. */
async function start(invoke: Invoke, reportsItemFailures = true) {
  const { time, queue, send } = openQueues();
  send('one');
  const mapping = { batchSize: 10, reportsItemFailures, concurrency: 5 };
  const stop = startQueueSource(mapping, { queue, time, invoke });
  await time.runUntil(1);
  return { time, queue, stop };
}

const returned = (payload: string): InvocationOutcome => ({ outcome: 'returned', payload });
const failed: InvocationOutcome = { outcome: 'failed', error: { errorType: 'Error', errorMessage: '' } };
const report = (...ids: string[]) =>
  returned(JSON.stringify({ batchItemFailures: ids.map(itemIdentifier => ({ itemIdentifier })) }));

it.each([
  ['an error fails the batch', failed, true, 1],
  ['an error fails the batch without reported failures, too', failed, false, 1],
  ['an answer that is not JSON fails the batch', returned('{'), true, 1],
  ['no answer is a success', returned('null'), true, 0],
  ['a message that is reported has failed', report('id-1'), true, 1],
  ['without reported failures any answer is a success', report('id-1'), false, 0],
])('%s', async (_, outcome, reportsItemFailures, remaining) => {
  const { queue } = await start(async () => outcome, reportsItemFailures);
  expect(queue.bodies()).toHaveLength(remaining);
});

it('stops after the current batches, and receives no more', async () => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<InvocationOutcome>();
  const { time, queue, stop } = await start(() => finished);
  let hasStopped = false;
  const stopped = stop().then(() => {
    hasStopped = true;
  });
  queue.send({ body: 'two' }, 'me');
  await time.runUntil(10_000);
  expect(hasStopped).toBe(false);
  finish(returned('null'));
  await stopped;
  expect(queue.bodies()).toEqual(['two']);
});
