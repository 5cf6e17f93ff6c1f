import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { composeDeliver } from '../../../lambdas/delivery/consumer/deliver.composition.ts';
import { composeSweep } from '../../../lambdas/delivery/sweeper/sweep.composition.ts';
import { runSeed } from '../../world/run-seed.ts';
import type { Compositions } from '../../world/stage.ts';
import { consumersWith } from './faulty-delivery.ts';

test('The same seed produces the same world in two processes.', async () => {
  const [first, second] = [await runProgram('7'), await runProgram('7')];
  expect(first.match(digests)).toHaveLength(2); // one for each kind of world
  expect(second.match(digests)).toEqual(first.match(digests));
  expect((await runSeed(7, 'all')).digest).toBe((await runSeed(7, 'all')).digest);
});

/** Runs a seed in a separate process. Its digest differs from the digest in Vitest, because log lines contain line numbers. */
async function runProgram(seed: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--seed', seed, '--class', 'all']);
  return stdout;
}

const digests = /\b[0-9a-f]{16}\b/g;
const program = path.join(import.meta.dirname, '../../world/world.ts');

/** Product faults, and the violation that each fault must cause. */
const faults: readonly (readonly [string, Partial<Compositions>, RegExp])[] = [
  [
    'sends slow deliveries to another queue',
    { deliver: (environment, ...rest) => composeDeliver({ ...environment, slowQueueUrl: 'dead-letters' }, ...rest) },
    /an unexpected dead-letter message|overdue by more/,
  ],
  [
    'acknowledges messages before it stores the outcome',
    {
      deliver: (...args) => {
        const consume = composeDeliver(...args);
        return async (event, context) => {
          consume(event, context).catch(() => undefined);
          return { batchItemFailures: [] };
        };
      },
    },
    /lost|pending at the end|overdue by more/,
  ],
  [
    'loses retries, and does not measure overdue deliveries',
    {
      deliver: (environment, ...rest) => composeDeliver({ ...environment, retryQueueUrl: 'dead-letters' }, ...rest),
      sweep: (environment, runtime, telemetry) => {
        const measure = (metric: Parameters<typeof telemetry.measure>[0]) => telemetry.measure(metric, 0);
        const misdirected = { ...environment, retryQueueUrl: 'dead-letters' };
        return composeSweep(misdirected, runtime, { ...telemetry, measure });
      },
    },
    /not in the metric/,
  ],
  [
    'logs rejected events as events without a webhook',
    {
      deliver: (environment, runtime, telemetry) => {
        const { log } = telemetry;
        const warn: typeof log.warn = (message, fields) =>
          log.warn(message === 'event.rejected' ? 'event.without_webhook' : message, fields);
        return composeDeliver(environment, runtime, { ...telemetry, log: { ...log, warn } });
      },
    },
    /"events find" returned no webhook, not rejected/,
  ],
  [
    'moves rejected events twice',
    {
      deliver: (environment, runtime, telemetry) => {
        const send = async (command: Parameters<typeof runtime.sqs.send>[0]) => {
          const isMove = command instanceof SendMessageCommand && command.input.QueueUrl === 'dead-letters';
          if (isMove) await runtime.sqs.send(command);
          return runtime.sqs.send(command);
        };
        return composeDeliver(environment, { ...runtime, sqs: { send } }, telemetry);
      },
    },
    /in the dead-letter queue twice/,
  ],
  ['has no sweeper', { sweep: () => async () => undefined }, /pending at the end/],
];

test('The stack trace of a POST has 10 calls in at most 8 files.', async () => {
  Error.stackTraceLimit = 50;
  const stacks: string[] = [];
  const altered = consumersWith(({ post }) => ({
    post: request => {
      stacks.push(new Error('POST').stack ?? '');
      return post(request);
    },
  }));
  await runSeed(1, 'none', altered);
  const calls = stacks[0]?.split('\n').filter(line => line.includes('/lambdas/')) ?? [];
  expect(calls).toHaveLength(10);
  expect(new Set(calls.map(line => /[^/]+\.ts/.exec(line)?.[0])).size).toBeLessThanOrEqual(8);
});

test.each(faults)('The world detects a product that %s', async (_, fault, expected) => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const { violations, trace } = await runSeed(seed, 'crashes', fault);
    const violation = violations.find(({ message }) => expected.test(message));
    if (!violation) continue;
    const { subjectId } = violation;
    if (subjectId !== undefined) expect(trace(subjectId).map(({ kind }) => kind)).toContain('call');
    return;
  }
  expect.unreachable('No seed detected the fault.');
});
