import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { sqsClientOf } from '../../tools/support/engines.ts';
import { processorTime, residentMemory } from '../../tools/support/function-processes.ts';
import { demoOf, type LocalOutputs, startLocalRun } from '../../tools/support/local-run.ts';
import { makeServiceClient, passwordGrant } from '../../tools/support/service-client.ts';
import type { BurstReceiverMessage } from './burst-receiver.ts';

/** Events for one webhook. Ten concurrent calls send a burst in batches of ten. With a rate, each call sends one message. */
export interface Load {
  readonly events: number;
  /** The number of events per second. */
  readonly rate?: number;
}

/** The result of one load. */
export interface BurstRow {
  readonly load: string;
  /** Deliveries per second, from the first sent message to the last delivery. */
  readonly perSecond: number;
  /** The consumers' CPU time per delivery, in milliseconds. */
  readonly cpuPerDelivery: number;
  /** The number of events that the consumer returned to the queue when it first received them. */
  readonly shed: number;
  /** The number of events that the consumer moved to another lane. */
  readonly moved: number;
  /** The resident memory of all functions after the load, in MiB. */
  readonly memory: number;
}

/** Measures each load in a complete local run. The receiver responds after 20 ms. */
export async function measureBursts(
  loads: readonly Load[],
  progress: (label: string) => void,
): Promise<readonly BurstRow[]> {
  const rows: BurstRow[] = [];
  for (const load of loads) {
    progress(describe(load));
    rows.push(await measureLoad(load));
  }
  return rows;
}

function describe({ events, rate }: Load): string {
  return rate === undefined ? `burst of ${events.toLocaleString('en')} events` : `${rate} events a second`;
}

async function measureLoad(load: Load): Promise<BurstRow> {
  const { events } = load;
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
      await publish(run.outputs, { events: warmUp });
      await untilReceived(requestCount, warmUp);
      const logged = (line: string) => readFileSync(run.logFile, 'utf8').split(`  ${line}`).length - 1;
      const shedBefore = logged('delivery.shed');
      const before = processorTime(consumers);
      const start = performance.now();
      await publish(run.outputs, load);
      await untilReceived(requestCount, warmUp + events);
      const seconds = (performance.now() - start) / 1_000;
      await pause(500); // until the last outcomes are stored
      const cpuPerDelivery = (processorTime(consumers) - before) / events;
      const memory = residentMemory(/./);
      const counts = { shed: logged('delivery.shed') - shedBefore, moved: logged('delivery.moved') };
      return { load: describe(load), perSecond: events / seconds, cpuPerDelivery, ...counts, memory };
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

async function publish(outputs: LocalOutputs, { events, rate }: Load): Promise<void> {
  const sqs = sqsClientOf(outputs);
  const { EventsQueueUrl: QueueUrl, Demo } = outputs;
  const MessageBody = JSON.stringify({ id_conta: Demo.AccountId, event, ...businessEvents.exampleValues });
  const Entries = Array.from({ length: rate === undefined ? 10 : 1 }, (_, at) => ({
    Id: String(at),
    MessageBody,
    MessageGroupId: Demo.AccountId,
  }));
  const start = performance.now();
  const calls: Promise<unknown>[] = [];
  for (let sent = 0; sent < events; sent += Entries.length) {
    if (rate !== undefined) await pause(Math.max(0, start + (sent * 1_000) / rate - performance.now()));
    else if (calls.length >= 10) await Promise.all(calls.splice(0));
    calls.push(sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries })));
  }
  await Promise.all(calls);
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
