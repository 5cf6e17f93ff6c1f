import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('a process without a file descriptor left blames itself, not the receiver’s host', async () => {
  const program = path.join(import.meta.dirname, 'without-descriptors.ts');
  const command = 'ulimit -n 64 && exec "$0" "$1"'; // Lambda allows a process 1,024
  const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, program]);
  expect(JSON.parse(stdout)).toEqual({ outcome: 'internal_error', errorCode: 'EMFILE' });
});
