import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '../support/e2e-target.ts';
import { freePort } from '../support/free-port.ts';
import { inlineCode, readPage } from '../support/markdown-page.ts';

/** A sample receiver from `docs/pt/recebimento.md` in a separate folder. */
export type SampleReceiver = Awaited<ReturnType<typeof makeSampleReceiver>>;

/** The languages of the receivers, in the order of the table on the page. */
export const sampleLanguages = ['PHP', 'Java', 'C#', 'Python', 'Node.js', 'Go'] as const;

export type SampleLanguage = (typeof sampleLanguages)[number];

/** Writes a receiver to a new folder, replaces port 8080 with a free port, and compiles the receiver if necessary. */
export async function makeSampleReceiver(language: SampleLanguage) {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-sample-'));
  const port = await freePort();
  const { file, command, code } = sampleOf(language);
  const withPort = (text: string) => text.replaceAll('8080', String(port));
  writeFileSync(path.join(folder, file), withPort(code));
  if (language === 'Go')
    execFileSync('go', ['build', file], { cwd: folder, env: { ...process.env, GO111MODULE: 'off' } });
  if (language === 'C#') execFileSync('mcs', ['-langversion:7', '-warnaserror', file, standIn], { cwd: folder });
  let child: ChildProcess | undefined;
  const written = { stdout: '', stderr: '' };

  /** The functions return stdout and stderr since the last start. */
  const streams = { output: () => written.stdout, errors: () => written.stderr };
  return { port, start, replaceEvents, stored, ...streams, remove };

  /** Restarts the receiver with the page's command, and waits until it listens. @throws an error with its output if it exits */
  async function start(secret: string | undefined): Promise<void> {
    await end(child);
    const [program = '', ...args] = withPort(command).split(' ');
    Object.assign(written, { stdout: '', stderr: '' });
    child = spawn(program, args, { cwd: folder, env: { ...process.env, SEGREDO: secret } });
    child.stdout?.on('data', chunk => (written.stdout += chunk));
    child.stderr?.on('data', chunk => (written.stderr += chunk));
    const ended = new Promise<never>((_, reject) => {
      child?.once('error', error =>
        reject(new Error(`Could not start ${program} (${error.message}). Install it (CONTRIBUTING.md).`)),
      );
      child?.once('close', code =>
        reject(new Error(`${program} exited with ${code}:\n${written.stdout}${written.stderr}`)),
      );
    });
    ended.catch(() => undefined); // `end` also stops the receiver
    await Promise.race([ended, until(`${program} at port ${port}`, () => warmUp(port).catch(() => undefined), 60_000)]);
  }

  /** Replaces the events folder with a file, so that the receiver cannot store events. */
  function replaceEvents(): void {
    rmSync(path.join(folder, 'events'), { recursive: true, force: true });
    writeFileSync(path.join(folder, 'events'), '');
  }

  /** Returns the stored events by `webhook-id`. */
  function stored(): Readonly<Record<string, string>> {
    const events = path.join(folder, 'events');
    const files = readdirSync(folder).includes('events') ? readdirSync(events) : [];
    return Object.fromEntries(
      files.map(name => [name.replace(/\.json$/, ''), readFileSync(path.join(events, name), 'utf8')]),
    );
  }

  async function remove(): Promise<void> {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the code of the receiver, and the page's command that runs it. */
function sampleOf(language: SampleLanguage): { file: string; command: string; code: string } {
  const page = readPage('docs/pt/recebimento.md');
  const { rows = [] } = page.tables.find(({ heading }) => heading === 'Receptores prontos') ?? {};
  const [name = '', , run = ''] = rows[sampleLanguages.indexOf(language)] ?? [];
  const [[file = ''], [command = '']] = [inlineCode(name), inlineCode(run)];
  const code = readFileSync(path.join(root, 'docs/samples/receiver', file), 'utf8');
  // Debian has no .NET SDK, so Mono compiles and runs the code with a substitute for ASP.NET Core.
  if (language === 'C#') return { file, command: 'mono Receiver.exe', code };
  // With `go run`, the program would continue to run after a kill.
  if (language === 'Go') return { file, command: './receiver', code };
  return { file, command, code };
}

const root = path.join(import.meta.dirname, '../..');
const standIn = path.join(import.meta.dirname, 'aspnet-stand-in.cs');

/** Sends a request with an invalid signature. On a busy computer, the first signature check can exceed the attempt timeout. */
async function warmUp(port: number): Promise<true> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const headers = { 'webhook-id': 'evt_0', 'webhook-timestamp': timestamp, 'webhook-signature': 'v1,AAAA' };
  await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: '{}' });
  return true;
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
