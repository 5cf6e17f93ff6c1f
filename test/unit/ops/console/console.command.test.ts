import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runOpsInProcess } from '../../../../tools/support/ops.ts';

it('ops console prints a link that opens once, and ends when it is interrupted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'emissor-ops-console-'));
  const outputs = join(folder, 'outputs.json');
  writeFileSync(outputs, JSON.stringify({ Region: 'us-east-1' }));
  const { code, stdout, stderr } = await runOpsInProcess(
    ['--outputs', outputs, 'console', '--port', '0'],
    '',
    'Console: ',
  );
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Console: http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}\nThe console has ended\.\n$/);
  await expect(fetch(stdout.split(' ')[1]?.split('#')[0] ?? '')).rejects.toThrow();
  rmSync(folder, { recursive: true });
});
