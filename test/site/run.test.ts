import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

const runner = path.join(import.meta.dirname, '../../site/run.ts');

it.each(['SIGINT', 'SIGTERM'] as const)('site/run.ts stops its server on %s', async signal => {
  const server = `process.stdout.write('ready'); setInterval(() => {}, 1_000)`;
  const script = `import { run } from ${JSON.stringify(runner)};
    await run(process.execPath, ['-e', ${JSON.stringify(server)}], process.env);`;
  const site = spawn(process.execPath, ['--input-type=module-typescript', '-e', script]);
  await once(site.stdout, 'readable');
  site.kill(signal);
  expect(await text(site.stdout)).toBe('ready'); // the pipe closes when the server exits
  expect(site.signalCode ?? (await once(site, 'exit'))[1]).toBe(signal);
});
