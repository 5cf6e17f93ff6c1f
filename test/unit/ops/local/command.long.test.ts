import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDataDirectory } from '@emissor/local-cloud/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

const root = join(import.meta.dirname, '../../../..');

const start = (...words: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/local.ts', ...words], {
    cwd: root,
    encoding: 'utf8',
    timeout: 20_000, // a run that starts although it should not is stopped
  });
  return { status, stdout, stderr };
};

/** A folder of its own for a test; it goes with the test. */
const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'emissor-command-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Starts a command in a process group of its own. A failing test leaves nothing of it behind. */
const spawnGroup = (command: string, words: readonly string[], options: SpawnOptions = {}): ChildProcess => {
  const child = spawn(command, words, { cwd: root, stdio: 'ignore', detached: true, ...options });
  onTestFinished(() => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // all of it has ended
    }
  });
  return child;
};

/** Resolves when a run has locked its data directory. */
const untilLocked = (data: string) =>
  vi.waitFor(() => expect(existsSync(join(data, 'lock'))).toBe(true), { timeout: 20_000 });

describe('npm start ends', { timeout: 30_000 }, () => {
  it.each([[['--bogus']], [['--port', 'x']], [['--set', 'nonsense=1']]])('with 2 for the options %j', words => {
    expect(start(...words)).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(/^[^\n]+\n$/) });
  });

  it('with 1, before any work, when it cannot write its outputs or its data', () => {
    expect(start('--port', '0', '--outputs', '/dev/null')).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^The outputs cannot be written to \/dev\/null: .*\n$/),
    });
    expect(start('--port', '0', '--outputs', join(root, '.local/never.json'), '--data', '/dev/null')).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^The directory \/dev\/null cannot be made: .*\n$/),
    });
  });

  it.each([0, 1, 2, 3, 4])('with 1 and one line that says what to do when the port at +%d is in use', async offset => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: taken } = server.address() as AddressInfo;
    const port = String(taken - offset);
    expect(start('--port', port, '--outputs', join(root, '.local/never.json'))).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^Port \d+ is in use, perhaps by another run: end that, or choose others with --port N [^\n]*\n$/,
      ),
    });
    server.close();
  });

  it.each([
    [
      '--faults',
      '{"refusedSends": 2}',
      /^The faults file \S+ cannot be used: "refusedSends" must be a number from 0 to 1\.\n$/,
    ],
    ['--hosts', '{"a.example.net": 7}', /^The hosts file \S+ cannot be used: "a\.example\.net" must be [^\n]*\n$/],
  ])('with 1 and one line for a bad file of %s', (option, text, stderr) => {
    const file = join(makeFolder(), 'file.json');
    writeFileSync(file, text);
    expect(start('--port', '0', '--outputs', join(root, '.local/never.json'), option, file)).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(stderr),
    });
  });

  it.skipIf(process.platform === 'win32')('with its parent process: npm may be killed', async () => {
    const folder = makeFolder();
    const words = `--port 0 --outputs "${folder}/outputs.json" --data "${folder}/data"`;
    const shell = spawnGroup('sh', ['-c', `"${process.execPath}" bin/local.ts ${words}; true`], {
      env: { ...process.env, npm_lifecycle_event: 'start' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = once(shell, 'close'); // the run holds the output open, too
    await untilLocked(join(folder, 'data'));
    shell.kill('SIGTERM');
    shell.stdout?.resume();
    await closed;
  });

  it.skipIf(process.platform === 'win32').each(['SIGINT', 'SIGTERM'] as const)(
    'on %s to npm alone, before npm does',
    async signal => {
      const folder = makeFolder();
      const data = join(folder, 'data');
      const options = ['--port', '0', '--outputs', join(folder, 'outputs.json'), '--data', data];
      const npm = spawnGroup('npm', ['start', '--silent', '--', ...options]);
      const ended = once(npm, 'exit');
      await untilLocked(data);
      npm.kill(signal);
      await ended;
      openDataDirectory(data).release(); // throws while the run is up
    },
  );
});
