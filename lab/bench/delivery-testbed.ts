import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateQueueCommand } from '@aws-sdk/client-sqs';
import { writeRuntimeFiles } from '@emissor/cloud/functions';
import type { NetworkSettings } from '@emissor/cloud/hosts';
import type * as z from 'zod';
import { deliverEnvironment } from '../../lambdas/delivery/environment.ts';
import { stageConfiguration, stageVariables } from '../../lib/config.ts';
import { bundleHandlers, writeBundle } from '../../lib/constructs/bundle.ts';
import { sqsClientOf } from '../../tools/support/engines.ts';
import { type LocalOutputs, startLocalRun } from '../../tools/support/local-run.ts';
import { type Consumer, makeConsumer } from './consumer.ts';
import type { ReceiverMessage } from './tls-receiver.ts';

/** The host of all receivers. */
export const host = 'bench.example.com';

/** The local run and the receiver for delivery measurements. */
export interface DeliveryTestbed {
  readonly outputs: LocalOutputs;
  /** Returns the number of requests that the receiver has received. */
  received(): Promise<number>;
  startConsumer(): Consumer;
  stop(): Promise<void>;
}

/** Starts a local run and a receiver. */
export async function startDeliveryTestbed(): Promise<DeliveryTestbed> {
  const directory = mkdtempSync(join(tmpdir(), 'emissor-bench-'));
  const cleanups: (() => unknown)[] = [() => rmSync(directory, { recursive: true })];
  const stop = async () => {
    for (const cleanUp of cleanups.toReversed()) await cleanUp();
  };
  try {
    const run = await startLocalRun('--map', `${host}=http://127.0.0.1:9`); // for the registration only
    cleanups.push(run.stop);
    const { outputs } = run;
    const receiver = await startReceiver();
    cleanups.push(receiver.stop);
    const sqs = sqsClientOf(outputs);
    cleanups.push(() => sqs.destroy());
    const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'bench-retries' }));

    const settings: NetworkSettings = { terminatorPort: receiver.port, builtIn: [], mappings: [[host, receiver.port]] };
    const code = join(directory, 'deliver');
    const entry = 'lambdas/delivery/consumer/deliver.handler.ts';
    writeBundle(bundleHandlers([entry]).get(entry), code);
    const runtimeContext = {
      ...(await writeRuntimeFiles(directory, settings, receiver.authorityCertificate)),
      endpoints: { DYNAMODB: outputs.DynamoDbEndpoint, SQS: outputs.SqsEndpoint, KMS: outputs.KmsEndpoint },
    };
    const variables = environmentOf(outputs, QueueUrl);
    let started = 0;

    return {
      outputs,
      received: receiver.received,
      startConsumer: () => {
        started += 1;
        const consumer = makeConsumer(`deliver-${started}`, code, variables, runtimeContext);
        cleanups.push(consumer.end);
        return consumer;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startReceiver() {
  const child = fork(join(import.meta.dirname, 'tls-receiver.ts'), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const listening = await nextMessage(child);
  if (!('port' in listening)) throw new Error('The receiver did not send its port.');
  return {
    ...listening,
    received: async () => {
      const reply = nextMessage(child);
      child.send('count');
      const message = await reply;
      return 'received' in message ? message.received : Number.NaN;
    },
    stop: () => child.disconnect(),
  };
}

/** Returns the environment variables that the delivery stack sets for the function. The retry queue has no consumer. */
function environmentOf(outputs: LocalOutputs, retryQueueUrl: string) {
  const settings: z.input<typeof deliverEnvironment> = {
    ...stageVariables(deliverEnvironment, stageConfiguration('local')),
    WEBHOOKS_TABLE: outputs.WebhooksTable,
    DELIVERIES_TABLE: outputs.DeliveriesTable,
    KEYRING_TABLE: outputs.KeyringTable,
    LANE: 'first',
    SLOW_CONCURRENCY: '2',
    QUEUE_URL: outputs.EventsQueueUrl,
    RETRY_QUEUE_URL: retryQueueUrl,
    SLOW_QUEUE_URL: retryQueueUrl,
    DEAD_LETTER_QUEUE_URL: outputs.DeadLetterQueueUrl,
    REJECTED_EVENTS_TOPIC_ARN: outputs.RejectedEventsTopicArn,
    OWN_HOSTS: 'auth.example.com,api.example.com',
    SERVICE_VERSION: '0.1.0',
  };
  return { LOG_LEVEL: 'INFO', METRICS_NAMESPACE: 'Emissor/bench', ...settings };
}

async function nextMessage(child: ChildProcess): Promise<ReceiverMessage> {
  return (await once(child, 'message'))[0] as ReceiverMessage;
}
