import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDataDirectory } from '@emissor/cloud/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { listen } from '../../../../tools/support/listen.ts';

// Tests the exit codes, signals, addresses and files of `npm start` (contract, section 7).

const root = join(import.meta.dirname, '../../../..');
/** An outputs file that is never written. */
const never = join(root, '.local/never.json');

const onPosix = it.skipIf(process.platform === 'win32');
const onLinux = it.skipIf(process.platform !== 'linux');

const start = (...words: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/local.ts', ...words], {
    cwd: root,
    encoding: 'utf8',
    timeout: 20_000, // stops a run that should have failed to start
  });
  return { status, stdout, stderr };
};

/** Returns a folder that is deleted after the test. */
const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'emissor-command-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Starts a command in its own process group, which is killed after the test. */
const spawnGroup = (command: string, words: readonly string[], options: SpawnOptions = {}): ChildProcess => {
  const child = spawn(command, words, { cwd: root, stdio: 'ignore', detached: true, ...options });
  onTestFinished(() => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // all processes of the group have ended
    }
  });
  return child;
};

/** Resolves once a run has locked its data directory. */
const untilLocked = (data: string) => vi.waitFor(() => statSync(join(data, 'lock')), { timeout: 20_000 });

describe('npm start ends', { timeout: 30_000 }, () => {
  it.each([
    ['--bogus', 2, /^unknown option '--bogus' [^\n]*\n$/],
    ['--outputs /dev/null', 1, /^Could not write the outputs to \/dev\/null: [^\n]*\n$/],
    ['--data /dev/null', 1, /^Could not create the directory \/dev\/null: [^\n]*\n$/],
    ['--faults /no/file', 1, /^Could not use the faults file \/no\/file: [^\n]*\n$/],
    ['--hosts /no/file', 1, /^Could not use the hosts file \/no\/file: [^\n]*\n$/],
  ])('with one line, before any work, for %s', (words, status, stderr) => {
    const result = start('--port', '0', '--outputs', never, ...words.split(' '));
    expect(result).toEqual({ status, stdout: '', stderr: expect.stringMatching(stderr) });
  });

  const inUse =
    /^Port \d+ is in use, perhaps by another run\. Stop that run, or choose other ports with --port N [^\n]*\n$/;
  it.each([0, 1, 2, 3, 4, 5])('with 1 and one line of advice when the port at +%d is in use', async offset => {
    const server = createServer();
    const usedPort = await listen(server);
    const result = start('--port', String(usedPort - offset), '--outputs', never);
    expect(result).toEqual({ status: 1, stdout: '', stderr: expect.stringMatching(inUse) });
    server.close();
  });

  onPosix('with its parent process, because npm may be killed', async () => {
    const folder = makeFolder();
    const words = `--port 0 --outputs "${folder}/outputs.json" --data "${folder}/data"`;
    const shell = spawnGroup('sh', ['-c', `"${process.execPath}" bin/local.ts ${words}; true`], {
      env: { ...process.env, npm_lifecycle_event: 'start' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = once(shell, 'close'); // the run also keeps the output open
    await untilLocked(join(folder, 'data'));
    shell.kill('SIGTERM');
    shell.stdout?.resume();
    await closed;
  });

  onPosix.each(['SIGINT', 'SIGTERM'] as const)('before npm when only npm receives %s', async signal => {
    const data = join(makeFolder(), 'data');
    const options = ['--port', '0', '--outputs', join(data, '../outputs.json'), '--data', data];
    const npm = spawnGroup('npm', ['start', '--silent', '--', ...options]);
    const ended = once(npm, 'exit');
    await untilLocked(data);
    npm.kill(signal);
    await ended;
    await openDataDirectory(data).release(); // throws while the run is up
  });
});

/** Returns the addresses on which a process listens, in the hexadecimal form of Linux. */
const listenersOf = (processId: number): string[] => {
  const files = `/proc/${processId}/fd`;
  const open = readdirSync(files).map(name => String(statSync(join(files, name), { throwIfNoEntry: false })?.ino));
  return ['tcp', 'tcp6']
    .flatMap(table => readFileSync(`/proc/${processId}/net/${table}`, 'utf8').split('\n'))
    .map(line => line.trim().split(/\s+/))
    .flatMap(([, address = '', , state, , , , , , socket]) =>
      state === listening && open.includes(socket ?? '') ? [address.split(':')[0] ?? ''] : [],
    );
};
const listening = '0A';

onLinux('a run listens only on 127.0.0.1, and removes its files when it ends', { timeout: 180_000 }, async () => {
  const folder = makeFolder();
  const file = (name: string) => join(folder, name);
  writeFileSync(file('webhooks.openapi.json'), 'another run');
  mkdirSync(file('second.1.webhooks.openapi.json'));
  const run = spawnGroup(process.execPath, ['bin/local.ts', '--port', '0', '--outputs', file('own.json')]);
  const ended = once(run, 'exit');
  const written = () => readdirSync(folder).filter(name => name.startsWith('own.'));
  await vi.waitFor(() => expect(written()).toContain('own.webhooks.openapi.json'), { timeout: 120_000 });
  const { AuthUrl, ConsoleUrl } = JSON.parse(readFileSync(file('own.json'), 'utf8'));
  expect(readFileSync(file('own.auth.openapi.json'), 'utf8')).toContain(AuthUrl);

  expect(ConsoleUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/); // without a token
  expect(await (await fetch(ConsoleUrl)).text()).toContain('Emissor');
  const listeners = listenersOf(run.pid ?? 0);
  expect(listeners.length).toBeGreaterThan(8); // APIs, receiver, SQS, DynamoDB, KMS, logs, console, TLS
  expect(new Set(listeners)).toEqual(new Set(['0100007F']));

  const assembly = join(root, `.local/runs/${run.pid}/cdk.out`);
  expect(start('--port', '0', '--outputs', file('second.1'), '--assembly', assembly)).toEqual({
    status: 1,
    stdout: expect.any(String),
    stderr: expect.stringMatching(/^Could not write .* \S+\/second\.1: EISDIR[^\n]* --outputs\.\n$/),
  });
  run.kill('SIGTERM');
  await ended;
  expect(readdirSync(folder).sort()).toEqual(['second.1.webhooks.openapi.json', 'webhooks.openapi.json']);
  expect(readFileSync(file('webhooks.openapi.json'), 'utf8')).toBe('another run');
});
