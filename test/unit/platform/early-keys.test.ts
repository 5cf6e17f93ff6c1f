import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { turnsUntil } from '../../support/virtual-time.ts';

/** The calls that open a key, by their names on the wire, and their answers. */
const answers: Readonly<Record<string, object>> = {
  'DynamoDB_20120810.Query': {
    Items: [
      {
        kind: { S: 'mac' },
        generation: { N: '1' },
        keyId: { S: 'mac1' },
        createdAt: { N: '0' },
        activeFrom: { N: '0' },
        wrapped: { B: 'AAAA' },
      },
    ],
  },
  'TrentService.Decrypt': { Plaintext: Buffer.alloc(32, 7).toString('base64') },
};

/** The stores: a call that is ill gets no answer, or a failure. */
const startStores = async () => {
  const calls: string[] = [];
  const ill = new Map<string, 'silent' | 'failing'>();
  const answer = (name: string, response: ServerResponse) => {
    calls.push(name);
    const illness = ill.get(name);
    if (illness === 'silent') return;
    response.writeHead(illness ? 500 : 200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(illness ? { __type: 'InternalServerError' } : answers[name]));
  };
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(String(request.headers['x-amz-target']), response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { calls, ill, endpoint, hangUp: () => server.closeAllConnections() };
};

const startProcess = (endpoint: string) => {
  const child = fork(join(import.meta.dirname, 'early-keys-process.ts'), {
    silent: true,
    env: {
      AWS_REGION: 'sa-east-1',
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      AWS_ENDPOINT_URL_KMS: endpoint,
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
};

/** The state of a process (`proc_pid_stat(5)`), such as `T` where it is stopped. */
const stateOf = ({ pid }: ChildProcess) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0];

it.each([
  ['the list of keys', 'DynamoDB_20120810.Query', 'silent'],
  ['a key', 'TrentService.Decrypt', 'silent'],
  ['the list of keys', 'DynamoDB_20120810.Query', 'failing'],
  ['a key', 'TrentService.Decrypt', 'failing'],
] as const)(
  'a process that is frozen while it waits for %s (%s, %s) opens its keys at the first request, and says nothing',
  async (_what, call, illness) => {
    const stores = await startStores();
    stores.ill.set(call, illness);
    const child = startProcess(stores.endpoint);
    const output = Promise.all([child.stdout, child.stderr].map(stream => (stream ? text(stream) : '')));
    expect(await once(child, 'message')).toEqual(['loaded', undefined]);
    await turnsUntil(() => stores.calls.includes(call));

    child.kill('SIGSTOP');
    await turnsUntil(() => stateOf(child) === 'T');
    stores.hangUp();
    stores.ill.clear();
    stores.calls.length = 0;
    const answered = once(child, 'message');
    child.send({ frozenFor: 5 * 60_000 });
    child.kill('SIGCONT');

    expect((await answered)[0]).toEqual({ keyId: 'mac1', bytes: 32 });
    expect(stores.calls).toContain('DynamoDB_20120810.Query'); // the list is too old, had it come
    expect(child.exitCode).toBeNull();
    child.disconnect();
    expect(await output).toEqual(['', '']);
  },
);
