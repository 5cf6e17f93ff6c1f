import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { sqsClientOf } from '../../tools/support/engines.ts';
import { processorTime } from '../../tools/support/function-processes.ts';
import { demoOf, type LocalOutputs, startLocalRun } from '../../tools/support/local-run.ts';
import { makeServiceClient, passwordGrant } from '../../tools/support/service-client.ts';
import type { BurstReceiverMessage } from './burst-receiver.ts';

/** The result of one burst. Ten concurrent calls send the events in batches of ten. */
export interface BurstRow {
  readonly events: number;
  /** Deliveries per second, from the first sent message to the last delivery. */
  readonly perSecond: number;
  /** The consumers' CPU time per delivery, in milliseconds. */
  readonly cpuPerDelivery: number;
  /** The number of events that the consumer returned to the queue when it first received them. */
  readonly shed: number;
  /** The number of events that the consumer moved to another lane. */
  readonly moved: number;
}

/** Measures each burst in a complete local run. The receiver responds after 20 ms. */
export async function measureBursts(
  sizes: readonly number[],
  progress: (label: string) => void,
): Promise<readonly BurstRow[]> {
  const rows: BurstRow[] = [];
  for (const events of sizes) {
    progress(`${events} events`);
    rows.push(await measureBurst(events));
  }
  return rows;
}

async function measureBurst(events: number): Promise<BurstRow> {
  const child = fork(join(import.meta.dirname, 'burst-receiver.ts'), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const requestCount = async (): Promise<BurstReceiverMessage> => {
    const reply = once(child, 'message');
    child.send('count');
    return (await reply)[0];
  };
  try {
    const [{ port }] = (await once(child, 'message')) as [BurstReceiverMessage];
    const run = await startLocalRun('--map', `${host}=http://127.0.0.1:${port}`);
    try {
      const { getTokens, register } = makeServiceClient(run.outputs);
      const { client, user } = demoOf(run.outputs);
      const { access_token: token } = await getTokens(passwordGrant(client, user));
      await register(token, { evento: event, url: `https://${host}/`, autorizacao: 'Bearer the-receivers-own-secret' });
      await publish(run.outputs, warmUp);
      await untilReceived(requestCount, warmUp);
      const before = processorTime(consumers);
      const start = performance.now();
      await publish(run.outputs, events);
      await untilReceived(requestCount, warmUp + events);
      const seconds = (performance.now() - start) / 1_000;
      await pause(500); // until the last outcomes are stored
      const cpuPerDelivery = (processorTime(consumers) - before) / events;
      const log = readFileSync(run.logFile, 'utf8');
      const [shed, moved] = ['delivery.shed', 'delivery.moved'].map(line => log.split(`  ${line}`).length - 1);
      return { events, perSecond: events / seconds, cpuPerDelivery, shed: shed ?? 0, moved: moved ?? 0 };
    } finally {
      await run.stop();
    }
  } finally {
    child.disconnect();
  }
}

const host = 'burst.example.com';
const event = 'demanda.criada';
const consumers = /Deliver(?:First|Retry|Slow)/;

/** The number of warm-up events, which are not measured. */
const warmUp = 200;

/** The timeout for a burst, in milliseconds. */
const burstTimeout = 180_000;

async function publish(outputs: LocalOutputs, events: number): Promise<void> {
  const sqs = sqsClientOf(outputs);
  const { EventsQueueUrl: QueueUrl, Demo } = outputs;
  const MessageBody = JSON.stringify({ id_conta: Demo.AccountId, event, ...businessEvents.exampleValues });
  const Entries = Array.from({ length: 10 }, (_, at) => ({
    Id: String(at),
    MessageBody,
    MessageGroupId: Demo.AccountId,
  }));
  for (let sent = 0; sent < events; sent += 100) {
    const calls = Array.from({ length: Math.min(10, Math.ceil((events - sent) / 10)) }, () =>
      sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries })),
    );
    await Promise.all(calls);
  }
  sqs.destroy();
}

async function untilReceived(requestCount: () => Promise<BurstReceiverMessage>, expected: number): Promise<void> {
  const deadline = Date.now() + burstTimeout;
  for (;;) {
    const { received } = await requestCount();
    if (received >= expected) return;
    if (Date.now() > deadline)
      throw new Error(`Only ${received} of ${expected} events arrived in ${burstTimeout / 1_000} s.`);
    await pause(20);
  }
}
