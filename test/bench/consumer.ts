import { randomUUID } from 'node:crypto';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import { queueEvent } from '../../local/event-sources/queue-record.ts';
import { makeLocalFunction } from '../../local/lambda/function.ts';
import { makeStartGate } from '../../local/lambda/start-gate.ts';
import type { RuntimeSurroundings } from '../../local/lambda/variables.ts';
import type { LocalOutputs } from '../support/local-run.ts';
import { processorTime } from './processes.ts';

/** What one consumer process makes of a series of batches. */
export interface Pace {
  /** Processor time per delivery in milliseconds. */
  readonly cpuMs: number;
  readonly perSecond: number;
}

/** Messages in a batch, as the event source mappings have it. */
export const batchSize = 10;

/** Makes a consumer in one process, under the Lambda Runtime API as the local cloud has it. */
export const makeConsumer = (
  what: string,
  bundle: string,
  variables: Readonly<Record<string, string>>,
  surroundings: RuntimeSurroundings,
) => {
  const name = `Bench-${process.pid}-${what}`; // its process is found by it, beside another benchmark's
  const { invoke, end } = makeLocalFunction(
    {
      name,
      arn: `arn:aws:lambda:us-east-1:000000000000:function:${name}`,
      label: name,
      directory: bundle,
      handler: 'index.handler',
      memory: 1024,
      timeoutSeconds: 45,
      variables,
      reservedConcurrency: 1,
      logFormat: 'JSON',
      logGroup: name,
    },
    { surroundings, startGate: makeStartGate(), onLine: () => undefined },
  );
  const processes = new RegExp(`^${name}$`);

  return {
    end,
    /** Hands over so many batches, one after the other. */
    consume: async (batches: number, makeBatch: () => string): Promise<Pace> => {
      const payloads = Array.from({ length: batches }, makeBatch);
      const before = processorTime(processes);
      const start = performance.now();
      for (const payload of payloads) {
        const result = await invoke(payload);
        const answer = result.outcome === 'returned' ? result.payload : result.fault.errorMessage;
        if (answer !== '{"batchItemFailures":[]}') throw new Error(`${what} did not process a batch: ${answer}`);
      }
      const seconds = (performance.now() - start) / 1_000;
      const deliveries = batches * batchSize;
      return { cpuMs: (processorTime(processes) - before) / deliveries, perSecond: deliveries / seconds };
    },
  };
};

/** A consumer that is measured. */
export type Consumer = ReturnType<typeof makeConsumer>;

/** Makes batches of an event as they come from the events queue. */
export const batchesOf =
  ({ EventsQueueUrl, Demo }: LocalOutputs, event: EventName) =>
  (): string => {
    const messages = Array.from({ length: batchSize }, () => ({
      MessageId: randomUUID(),
      ReceiptHandle: randomUUID(),
      Body: JSON.stringify({ id_conta: Demo.AccountId, event, id_demanda: 10 }),
      Attributes: { SentTimestamp: String(Date.now()), ApproximateReceiveCount: '1', MessageGroupId: Demo.AccountId },
    }));
    return JSON.stringify(
      queueEvent(messages, `arn:aws:sqs:us-east-1:000000000000:${EventsQueueUrl.split('/').at(-1)}`),
    );
  };
