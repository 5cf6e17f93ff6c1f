import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { median, rotated } from '../../tools/support/statistics.ts';

/** The median CPU time per DynamoDB call in microseconds, with the product's client and with a plain SDK client. */
export interface CallResult {
  readonly productUs: number;
  readonly plainUs: number;
  /** The median ratio over the rounds. */
  readonly ratio: number;
}

/** Measures the same calls with both clients, alternately and in new processes. A local server mimics DynamoDB. */
export async function measureCalls(rounds: number, calls: number): Promise<CallResult> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/x-amz-json-1.0');
      response.end(responses[String(request.headers['x-amz-target']).split('.')[1] ?? '']);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const times = { product: [] as number[], plain: [] as number[] };
    for (let round = 0; round < rounds; round++)
      for (const client of rotated(['product', 'plain'] as const, round))
        times[client].push(await timeOf(client, calls, endpoint));
    const ratios = times.product.map((time, round) => time / (times.plain[round] ?? Number.NaN));
    return { productUs: median(times.product), plainUs: median(times.plain), ratio: median(ratios) };
  } finally {
    server.close();
  }
}

/** Measures the CPU time per call in a new process, in microseconds. */
async function timeOf(client: 'product' | 'plain', calls: number, endpoint: string): Promise<number> {
  const child = fork(join(import.meta.dirname, 'call-client.ts'), [client, String(calls)], {
    env: {
      ...{ AWS_REGION: 'sa-east-1', AWS_ACCESS_KEY_ID: 'bench', AWS_SECRET_ACCESS_KEY: 'bench' },
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    },
  });
  const [time] = await once(child, 'message');
  return Number(time);
}

const item = {
  ...{
    userId: { S: 'user-1' },
    email: { S: 'someone@example.com' },
    accountId: { S: 'account-1' },
    counter: { N: '12' },
  },
  scopes: { L: [{ S: 'webhooks:read' }, { S: 'webhooks:manage' }] },
  secrets: { L: [{ M: { hash: { S: 'f'.repeat(43) }, expiresAt: { N: '1790000000' } } }] },
};

/** The response to each operation. */
const responses: Readonly<Record<string, string>> = {
  BatchGetItem: JSON.stringify({ Responses: { Table: [item, item, item] }, UnprocessedKeys: {} }),
  PutItem: '{}',
  UpdateItem: JSON.stringify({ Attributes: item }),
};
