import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { systemTime } from '../../lambdas/platform/timer.ts';
import { type ApiCredentials, type ApiSession, openApiSession } from './api-session.ts';
import { makeApiSource } from './api-source.ts';
import { describePort, startConsole } from './server.ts';
import { languageOf } from './texts.ts';

/**
 * The panel of an integrator: the pages of its account on 127.0.0.1, over the public API. One file that needs Node only. It asks
 * for the credentials at the terminal, or takes them as four lines of its input.
 */
async function main(): Promise<number> {
  let values: { readonly auth?: string; readonly base?: string; readonly port?: string; readonly help?: boolean };
  try {
    const text = { type: 'string' } as const;
    ({ values } = parseArgs({ options: { auth: text, base: text, port: text, help: { type: 'boolean' } } }));
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error));
  }
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const port = Number(values.port ?? 0);
  if (!URL.canParse(values.auth ?? '') || !URL.canParse(values.base ?? ''))
    return usage('--auth and --base must be URLs');
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535)) return usage('--port must be a number from 0 to 65535');
  const terminal = openTerminal();
  const address = { authUrl: trimmed(values.auth), baseUrl: trimmed(values.base), fetch, after: systemTime.after };
  const session = await openApiSession(address, await askCredentials(terminal));
  await requireReader(session);
  const running = await startConsole(language => makeApiSource(session, language), port).catch(async error => {
    await session.revoke();
    throw new Error(describePort(error, port) ?? error.message);
  });
  const showLink = () => process.stdout.write(`Painel: ${running.makeLink()}\n`);
  process.stdout.write('Enter: novo link (new link). Ctrl-C: fim (end).\n');
  showLink();
  await new Promise<void>(resolve => {
    terminal.onLine(showLink, resolve);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
  await running.stop();
  await session.revoke();
  return 0;
}

/** Refuses credentials that see nothing, in the API's own sentence, before there is a page. */
async function requireReader(session: ApiSession): Promise<void> {
  const source = makeApiSource(session, languageOf(Intl.DateTimeFormat().resolvedOptions().locale));
  try {
    await source.readAccount();
  } catch (error) {
    await session.revoke();
    throw error;
  }
}

async function askCredentials({ ask }: Terminal): Promise<ApiCredentials> {
  const clientId = await ask('client_id: ', false);
  const clientSecret = await ask('client_secret: ', true);
  const username = await ask('username: ', false);
  return { clientId, clientSecret, username, password: await ask('password: ', true) };
}

interface Terminal {
  /** Asks for a line; a secret is not shown. Rejects where the input has ended. */
  ask(question: string, isSecret: boolean): Promise<string>;
  /** Calls at each further line, and at Ctrl-C. The end of a piped input is not an end of the panel. */
  onLine(line: () => void, end: () => void): void;
}

function openTerminal(): Terminal {
  let isMuted = true; // but for the line that is asked for: what is pasted ahead may be a secret
  const output = new Writable({
    write: (chunk, _, done) => {
      if (!isMuted) process.stdout.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input: process.stdin, output, terminal: process.stdin.isTTY, historySize: 0 });
  const ended = new Promise<void>(resolve => lines.once('close', resolve));
  const waiting: string[] = [];
  let take: ((line: string) => void) | undefined;
  lines.on('line', line => {
    if (take) take(line);
    else waiting.push(line);
  });
  return {
    ask: (question, isSecret) =>
      new Promise((resolve, reject) => {
        const given = waiting.shift();
        if (process.stdin.isTTY) process.stdout.write(given === undefined ? question : `${question}\n`);
        if (given !== undefined) return resolve(given);
        void ended.then(() => reject(new Error(`the input ended before ${credentials} were read`)));
        isMuted = isSecret;
        take = line => {
          take = undefined;
          if (isMuted) process.stdout.write('\n');
          isMuted = true;
          resolve(line);
        };
        lines.once('SIGINT', () => process.exit(1));
      }),
    onLine: (line, end) => {
      take = line;
      lines.removeAllListeners('SIGINT');
      lines.once('SIGINT', end);
    },
  };
}

function usage(problem: string): number {
  process.stderr.write(`error: ${problem}\n${help}`);
  return 2;
}

const credentials = 'client_id, client_secret, username and password';

const help = `Usage: node painel.mjs --auth URL --base URL [--port N]

Serves the pages of your account on 127.0.0.1: its webhooks and deliveries, and why one failed. With webhooks:manage they
register, change, test and delete webhooks, replace secrets, and send deliveries again; without it they only look.
It asks for ${credentials} at the terminal (or reads them as four lines of its input),
keeps tokens in memory, and revokes them at its end.
`;

function trimmed(url = ''): string {
  return url.replace(/\/$/, '');
}

try {
  process.exit(await main());
} catch (error) {
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
