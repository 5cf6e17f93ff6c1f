import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { OpsResult } from '../../tools/support/ops.ts';
import { ops, runOps, startOps } from '../support/e2e-ops.ts';
import { outputs, run } from '../support/e2e-target.ts';

/** Returns the records that a test left in the reserved account, except the stored client and user of the stage. */
const remainingRecords = async (): Promise<readonly unknown[]> => {
  const lists = await Promise.all(['clients', 'users'].map(noun => ops<{ accountId: string }[]>([noun, 'list'])));
  const records = lists.map(list => list.filter(({ accountId }) => accountId === '_smoke'));
  const isStored = outputs.SmokeCredentialsParameter !== undefined;
  return [...records.flatMap(list => list.slice(isStored ? 1 : 0)), ...(await ops<[]>(smokeWebhooks))];
};
const smokeWebhooks = ['webhooks', 'list', '--account', '_smoke'];

const names = ['identity', 'token', 'clean up', 'register', 'publish', 'receive', 'delete webhook'];

describe('ops smoke', () => {
  it('passes, shows each step, and deletes its records', async () => {
    const { code, stdout, stderr } = await runOps(['--outputs', run.outputsFile, 'smoke']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    for (const [index, name] of names.entries()) {
      expect(lines[index]).toMatch(new RegExp(`^${name} +\\d+ ms$`));
    }
    expect(lines.slice(names.length)).toEqual([expect.stringMatching(/^PASSED: .* \d+\.\d s\.$/)]);
    expect(await remainingRecords()).toEqual([]);
  });

  // Bug: the smoke test sent requests for this machine through a proxy.
  it.each([{ NODE_USE_ENV_PROXY: '1' }, { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --use-env-proxy` }])(
    'passes with %o and a proxy that does not respond',
    async node => {
      const closed = 'http://127.0.0.1:1';
      const proxies = { http_proxy: closed, https_proxy: closed, HTTP_PROXY: closed, HTTPS_PROXY: closed };
      const { code, stderr } = await runOps(['--outputs', run.outputsFile, 'smoke'], '', { ...node, ...proxies });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    },
  );

  it('deletes its webhook after Ctrl-C', async () => {
    const { code, stdout, stderr } = await interruptAfter('register ');
    expect(code).toBe(1);
    expect(stdout).toContain('delete webhook');
    expect(stderr).toMatch(
      /^Stopping .*\nerror: the smoke test of .* failed at "[a-z ]+" after .* s: interrupted.*\n$/,
    );
    expect(await remainingRecords()).toEqual([]);
  });
});

/** Runs the smoke test in a separate process. Interrupts it twice after its output contains `marker`, as npm does with Ctrl-C. */
async function interruptAfter(marker: string): Promise<OpsResult> {
  const child = startOps(['--outputs', run.outputsFile, 'smoke']);
  const stderr = text(child.stderr);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    const isDone = stdout.includes(marker);
    stdout += part;
    if (stdout.includes(marker) && !isDone) for (const signal of ['SIGINT', 'SIGINT'] as const) child.kill(signal);
  });
  const [code] = await once(child, 'close');
  return { code, stdout, stderr: await stderr };
}
