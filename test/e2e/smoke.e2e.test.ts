import { spawn } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ops, runOps } from '../support/e2e-ops.ts';
import { run } from '../support/e2e-target.ts';

interface Step {
  readonly name: string;
  readonly outcome: string;
}

/** What there is of the reserved account: a test leaves nothing behind. */
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

  it('may run many times at once: each takes another event', async () => {
    const results = await Promise.all(
      Array.from({ length: 3 }, () => ops<{ passed: boolean; steps: readonly Step[] }>(['smoke'])),
    );
    for (const { passed, steps } of results) {
      expect(passed).toBe(true);
      expect(steps.map(({ name, outcome }) => [name, outcome])).toEqual(names.map(name => [name, 'done']));
    }
    expect(await leftOvers()).toEqual([]);
  });

  it.each(['client and user', 'register', 'publish'])('tidies up after Ctrl-C behind "%s"', async step => {
    const { code, stdout, stderr } = await interruptAfter(step);
    expect(code).toBe(1);
    expect(stdout).toContain('tidy up');
    expect(stderr).toMatch(/^error: the smoke test of .* failed at "[a-z ]+" after .* s: interrupted.*\n$/);
    expect(await leftOvers()).toEqual([]);
  });
});

/** Runs the test as a process of its own, and interrupts it when that step is done: twice, as npm does with Ctrl-C. */
async function interruptAfter(step: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, ['bin/ops.ts', '--outputs', run.outputsFile, 'smoke'], { cwd: root });
  const streams = { stdout: '', stderr: '' };
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    streams.stderr += text;
  });
  let interruptions = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    streams.stdout += text;
    if (!streams.stdout.includes(`${step} `) || interruptions > 0) return;
    for (; interruptions < 2; interruptions++) child.kill('SIGINT');
  });
  const code = await new Promise<number | null>(resolve => child.once('close', resolve));
  return { code, ...streams };
}

const root = path.join(import.meta.dirname, '../..');
