import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeReceiver } from '../../lambdas/smoke/receiver.ts';
import { listen } from '../../tools/support/listen.ts';
import { type OpsResult, runOpsInProcess } from '../../tools/support/ops.ts';
import { ops, runOps } from '../support/e2e-ops.ts';
import { mapHost } from '../support/e2e-receiver.ts';
import { describeWith, outputs, plant, run } from '../support/e2e-target.ts';
import { type FakeParameterStore, startParameterStore } from '../support/fake-parameter-store.ts';
import { httpRequest } from '../support/http-request.ts';

/** Returns the clients, users and webhooks of the reserved account: a test leaves none behind. */
const leftOvers = async (): Promise<readonly unknown[]> => {
  const lists = await Promise.all(['clients', 'users'].map(noun => ops<{ accountId: string }[]>([noun, 'list'])));
  return [...lists.flat().filter(({ accountId }) => accountId === '_smoke'), ...(await ops<[]>(smokeWebhooks))];
};
const smokeWebhooks = ['webhooks', 'list', '--account', '_smoke'];

const names = ['left-overs', 'client and user', 'token', 'register', 'publish', 'receive', 'verify', 'tidy up'];

describe('ops smoke', () => {
  it('passes, tells of each step, and leaves nothing behind', async () => {
    const { code, stdout, stderr } = await runOps(['--outputs', run.outputsFile, 'smoke']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    for (const [index, name] of names.entries()) {
      expect(lines[index]).toMatch(new RegExp(`^${name} +\\d+ ms  \\S`));
    }
    expect(lines.slice(names.length)).toEqual([expect.stringMatching(/^PASSED: .* \d+\.\d s\.$/)]);
    expect(await leftOvers()).toEqual([]);
  });

  it('tidies up after Ctrl-C', async () => {
    const { code, stdout, stderr } = await interruptAfter('register ');
    expect(code).toBe(1);
    expect(stdout).toContain('tidy up');
    expect(stderr).toMatch(/^Ending: .*\nerror: the smoke test of .* failed at "[a-z ]+" after .* s: interrupted.*\n$/);
    expect(await leftOvers()).toEqual([]);
  });
});

describeWith(['names'], 'ops smoke of a stage with a receiver of its own', () => {
  it('makes the key of the receiver, and passes with it', async () => {
    const store = await openParameterStore();
    const receiver = await startOwnReceiver(store);
    try {
      for (const expected of ['made', 'kept']) {
        const { code, stdout, stderr } = await runOpsInProcess(['--outputs', receiver.outputsFile, 'smoke']);
        expect({ code, stderr }, expected).toEqual({ code: 0, stderr: '' });
        expect(stdout).toMatch(/^verify +\d+ ms {2}body, Authorization and signature arrived as they should$/m);
        const secret = store.parameters.get(keyParameter)?.Value ?? '';
        expect(secret).toMatch(/^\w{43}$/);
        expect(stdout).not.toContain(plant(secret));
      }
      expect(receiver.statuses).toEqual([200, 200]);
    } finally {
      receiver.stop();
      store.stop();
    }
  });

  it('tells that the receiver refuses a key that was made with another secret', async () => {
    const store = await openParameterStore();
    const receiver = await startOwnReceiver(store, async () => 'another secret');
    try {
      const { code, stderr } = await runOpsInProcess(['--outputs', receiver.outputsFile, 'smoke']);
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /failed at "receive" .* the receiver refuses the delivery: attempt \d ended with http 401/,
      );
      expect(await leftOvers()).toEqual([]);
    } finally {
      receiver.stop();
      store.stop();
    }
  });
});

/** Opens a stand-in for the parameters of AWS, which the commands of this test ask. */
async function openParameterStore(): Promise<FakeParameterStore> {
  const store = await startParameterStore();
  for (const [name, value] of Object.entries(store.environment)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  return store;
}

const keyParameter = '/emissor/e2e/smoke/receiver-key';

/** Starts the receiver function of a stage behind a public name. Returns the outputs of a run that has it. */
async function startOwnReceiver(
  { parameters }: FakeParameterStore,
  readSecret = async () => parameters.get(keyParameter)?.Value,
) {
  const receive = makeReceiver({ readSecret, now: Date.now });
  const statuses: number[] = [];
  const server = createServer(async (request, response) => {
    const headers = Object.fromEntries(Object.entries(request.headersDistinct).map(([name, all]) => [name, `${all}`]));
    const { statusCode = 500, body } = await receive(httpRequest({ headers, body: await buffer(request) }));
    statuses.push(statusCode);
    response.writeHead(statusCode, { 'content-type': 'application/json' }).end(body);
  });
  const port = await listen(server);
  const host = `smoke-${port}.lambda-url.example.com`;
  await mapHost(host, `http://127.0.0.1:${port}`);
  const outputsFile = `${run.canaryFile}-${port}.json`;
  const own = { SmokeReceiverUrl: `https://${host}/`, SmokeReceiverKeyParameter: keyParameter };
  writeFileSync(outputsFile, JSON.stringify({ ...outputs, ...own }));
  return {
    statuses,
    outputsFile,
    stop: () => {
      server.close();
      rmSync(outputsFile);
    },
  };
}

/** Runs the test as a process of its own, and interrupts it at a text of its output: twice, as npm does with Ctrl-C. */
async function interruptAfter(text: string): Promise<OpsResult> {
  const child = spawn(process.execPath, ['bin/ops.ts', '--outputs', run.outputsFile, 'smoke'], { cwd: root });
  const streams = { stdout: '', stderr: '' };
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    streams.stderr += part;
  });
  let interruptions = 0;
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    streams.stdout += part;
    if (!streams.stdout.includes(text) || interruptions > 0) return;
    for (; interruptions < 2; interruptions++) child.kill('SIGINT');
  });
  const code = await new Promise<number | null>(resolve => child.once('close', resolve));
  return { code, ...streams };
}

const root = path.join(import.meta.dirname, '../..');
