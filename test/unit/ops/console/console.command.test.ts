import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listen } from '../../../../tools/support/listen.ts';
import { runOpsInProcess } from '../../../../tools/support/ops.ts';

const folder = mkdtempSync(join(tmpdir(), 'emissor-ops-console-'));
const outputs = join(folder, 'outputs.json');
beforeAll(() => writeFileSync(outputs, JSON.stringify({ Region: 'us-east-1' })));
afterAll(() => rmSync(folder, { recursive: true }));

const run = (port: number, input: string, interruptAfter: RegExp) =>
  runOpsInProcess(['--outputs', outputs, 'console', '--port', String(port)], input, interruptAfter);

it('ops console prints a link that opens once, another one for each line of its input, and ends when it is interrupted', async () => {
  const { code, stdout, stderr } = await run(0, '\n', /Console: .*Console: /s);
  expect([code, stderr]).toEqual([0, '']);
  const [first, second, end] = stdout.split('\n');
  for (const line of [first, second]) expect(line).toMatch(/^Console: http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}$/);
  expect(first).not.toBe(second);
  expect(end).toBe('The console has ended.');
  await expect(fetch(stdout.split(' ')[1]?.split('#')[0] ?? '')).rejects.toThrow();
});

it('ops console says what to do about a port that is in use', async () => {
  const other = createServer();
  const port = await listen(other);
  const { code, stderr } = await run(port, '', /Console: /);
  expect(code).toBe(1);
  expect(stderr).toBe(
    `error: port ${port} is in use: name another with --port, or leave it out for any that is free.\n`,
  );
  other.close();
});
