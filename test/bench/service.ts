import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type LocalOutputs, startLocalRun } from '../support/local-run.ts';
import { median } from './figures.ts';
import { processorTime } from './processes.ts';

/** What one run of the whole service shows; times in milliseconds. */
export interface ServiceFigures {
  readonly readyMs: number;
  readonly coldLoginMs: number;
  readonly warmLoginMs: number;
  readonly warmRefreshMs: number;
  readonly cpuPerLogin: number;
  readonly cpuPerRefresh: number;
  readonly cpuPerDelivery: number;
  readonly deliveriesPerSecond: number;
}

const host = 'bench.example.com';

/** Counts what arrives, after `wanted` of which it is done. */
const startReceiver = async () => {
  let received = 0;
  let done = () => {};
  let wanted = Number.POSITIVE_INFINITY;
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end());
    if (++received >= wanted) done();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    until: (count: number) =>
      new Promise<void>(resolve => {
        wanted = count;
        done = resolve;
        if (received >= count) resolve();
      }),
    stop: () => server.close(),
  };
};

const timed = async (action: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await action();
  return performance.now() - start;
};

/** Times and processor time of `count` calls one after the other. */
const series = async (count: number, functionName: RegExp, action: () => Promise<unknown>) => {
  const before = processorTime(functionName);
  const times: number[] = [];
  for (let call = 0; call < count; call++) times.push(await timed(action));
  return { medianMs: median(times), cpuMs: (processorTime(functionName) - before) / count };
};

const makeCaller = ({ AuthUrl, BaseUrl, Demo }: LocalOutputs) => {
  const token = async (parameters: Record<string, string>) => {
    const body = new URLSearchParams({ ...parameters, client_id: Demo.ClientId, client_secret: Demo.ClientSecret });
    const response = await fetch(`${AuthUrl}/oauth/v1/token`, { method: 'POST', body });
    if (!response.ok) throw new Error(`The token endpoint answered ${response.status}.`);
    return (await response.json()) as { access_token: string; refresh_token: string };
  };
  return {
    login: () => token({ grant_type: 'password', username: Demo.Username, password: Demo.Password }),
    refresh: (refreshToken: string) => token({ grant_type: 'refresh_token', refresh_token: refreshToken }),
    register: async (accessToken: string, evento: string) => {
      const response = await fetch(`${BaseUrl}/v1/webhooks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ evento, url: `https://${host}/` }),
      });
      if (!response.ok) throw new Error(`The webhooks API answered ${response.status}.`);
    },
  };
};

const publish = async (
  { EventsQueueUrl, SqsEndpoint, Region, Demo }: LocalOutputs,
  event: string,
  count: number,
): Promise<void> => {
  const sqs = new SQSClient({
    region: Region,
    endpoint: SqsEndpoint,
    credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
  });
  for (let first = 1; first <= count; first += 10) {
    const Entries = Array.from({ length: Math.min(10, count - first + 1) }, (_, index) => ({
      Id: String(index),
      MessageGroupId: Demo.AccountId,
      MessageBody: JSON.stringify({ id_conta: Demo.AccountId, event, id_demanda: first + index }),
    }));
    await sqs.send(new SendMessageBatchCommand({ QueueUrl: EventsQueueUrl, Entries }));
  }
};

/** Runs the whole service and measures what a request and a delivery cost it. */
export const measureService = async (count: number): Promise<ServiceFigures> => {
  const receiver = await startReceiver();
  const service = await startLocalRun('--map', `${host}=${receiver.url}`);
  try {
    const { outputs, readyMs } = service;
    const caller = makeCaller(outputs);
    const coldLoginMs = await timed(caller.login);
    const logins = await series(count, /Token/, caller.login);
    let { refresh_token: refreshToken } = await caller.login();
    const refreshes = await series(count, /Token/, async () => {
      refreshToken = (await caller.refresh(refreshToken)).refresh_token;
    });

    const { access_token: accessToken } = await caller.login();
    await caller.register(accessToken, 'demanda.criada');
    await publish(outputs, 'demanda.criada', 20); // starts the consumers
    await receiver.until(20);
    const before = processorTime(/Deliver/);
    const duration = await timed(async () => {
      const arrived = receiver.until(20 + 5 * count);
      await publish(outputs, 'demanda.criada', 5 * count);
      await arrived;
    });
    return {
      readyMs,
      coldLoginMs,
      warmLoginMs: logins.medianMs,
      warmRefreshMs: refreshes.medianMs,
      cpuPerLogin: logins.cpuMs,
      cpuPerRefresh: refreshes.cpuMs,
      cpuPerDelivery: (processorTime(/Deliver/) - before) / (5 * count),
      deliveriesPerSecond: (5 * count) / (duration / 1_000),
    };
  } finally {
    await service.stop();
    receiver.stop();
  }
};
