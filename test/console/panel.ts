import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemTime } from '../../lambdas/platform/timer.ts';
import { openApiSession } from '../../ops/console/api-session.ts';
import { makeApiSource } from '../../ops/console/api-source.ts';
import { startConsole } from '../../ops/console/server.ts';
import type { Client, User } from '../../tools/support/accounts.ts';
import { until } from '../support/e2e-poll.ts';
import { authUrl, baseUrl } from '../support/e2e-target.ts';

/** Starts the pages of a user in the process of the test. They renew themselves each second. */
export async function startPages(client: Client, { email: username, password }: Pick<User, 'email' | 'password'>) {
  const address = { authUrl, baseUrl, fetch, after: systemTime.after };
  const session = await openApiSession(address, { ...client, username, password });
  return startConsole(language => ({ ...makeApiSource(session, language), refreshSeconds: 1 }), 0);
}

/** The panel of an integrator that runs. */
export interface Panel {
  /** Returns a link that was not used: the first, then another for each Enter. */
  link(): Promise<string>;
  /** Returns all that it wrote. */
  output(): string;
  /** Interrupts it. Returns its exit code. */
  stop(): Promise<number | null>;
  /** Waits for its end. Returns its exit code. */
  ended(): Promise<number | null>;
}

/** Builds the panel, the one file that integrators get. Returns what runs it, and what removes it. */
export function buildPanel() {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-panel-'));
  const file = path.join(folder, 'painel.mjs');
  execFileSync(process.execPath, ['tools/painel.ts', '--out', file], { stdio: 'ignore' });
  return { start, remove: () => rmSync(folder, { recursive: true }) };

  /** Starts it with its credentials as its input. In a terminal they are pasted at its first question. */
  function start(
    { clientId, clientSecret }: Client,
    { email, password }: Pick<User, 'email' | 'password'>,
    isInTerminal = false,
  ): Panel {
    const command = [process.execPath, file, '--auth', authUrl, '--base', baseUrl];
    const [program = '', ...words] = isInTerminal ? ['script', '-qefc', command.join(' '), '/dev/null'] : command;
    const child = spawn(program, words, { cwd: folder });
    let written = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        written += text;
      });
    }
    const paste = () => void child.stdin.write(`${clientId}\n${clientSecret}\n${email}\n${password}\n`);
    if (isInTerminal) child.stdout.once('data', paste);
    else paste();
    let asked = 0;
    const ended = async () => {
      if (child.exitCode === null) await once(child, 'exit');
      return child.exitCode;
    };
    return {
      link: () => {
        if (asked > 0) child.stdin.write('\n');
        const at = asked++;
        return until('the link', async () => [...written.matchAll(/Painel: (\S+)\r?\n/g)][at]?.[1]);
      },
      output: () => written,
      ended,
      stop: () => {
        child.kill('SIGTERM');
        return ended();
      },
    };
  }
}
