import { realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { startConsole } from './server.ts';

export { startConsole } from './server.ts';

export async function runConsole(args: readonly string[]): Promise<number> {
  try {
    await serve(args);
    return 0;
  } catch (error) {
    process.stderr.write(`error: ${describe(error)}\n`);
    return error instanceof TypeError ? 2 : 1;
  }
}

async function serve(args: readonly string[]): Promise<void> {
  const text = { type: 'string' } as const;
  const options = { auth: text, base: text, port: text, help: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const { auth = '', base = '', port = '0', help } = values;
  if (help) {
    process.stdout.write(usage);
    return;
  }
  if (!URL.canParse(auth) || !URL.canParse(base)) throw new TypeError('--auth and --base must be URLs.');
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new TypeError('--port must be a number from 0 to 65535.');
  const running = await startConsole(Number(port));
  const withoutSlash = (url: string) => url.replace(/\/$/, '');
  running.open({ service: { authUrl: withoutSlash(auth), baseUrl: withoutSlash(base), fetch } });
  process.stdout.write(`Console: ${running.url}\nOpen this address to sign in. Press Ctrl-C to stop.\n`);
  await new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
  await running.stop();
}

const usage = `Usage: node emissor-console.mjs --auth URL --base URL [--port N]

Serves web pages on 127.0.0.1. They show your account's webhooks and deliveries, and why a delivery failed. Sign in with
your client_id, client_secret, username and password. If the only scope is webhooks:read, the pages are read-only.
`;

function describe(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'EADDRINUSE') return 'The port is in use. Choose another --port, or omit --port to use any free port.';
  if (code === 'EACCES') return 'The system does not allow this port. Choose a --port of 1024 or higher.';
  return `${error instanceof Error ? error.message : error}${error instanceof TypeError ? `\n${usage}` : ''}`;
}

if (import.meta.url === pathToFileURL(realpathSync(process.argv[1] ?? '.')).href) {
  process.exitCode = await runConsole(process.argv.slice(2));
}
