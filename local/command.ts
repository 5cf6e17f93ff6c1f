import { once } from 'node:events';
import { join } from 'node:path';
import { StartError, UsageError } from './errors.ts';
import { startLocalCloud } from './local-cloud.ts';
import { type LocalOptions, parseOptions } from './options.ts';
import type { RunOutputs } from './outputs.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/**
 * Runs the local cloud until it is told to end.
 *
 * @param words - the command line, without node and script
 * @returns the exit code: 0, 1 for a run that failed, 2 for a command line that was not understood. Everything the person
 * can mend has been said in one line on stderr.
 */
export async function runLocally(words: readonly string[]): Promise<number> {
  process.stdout.on('error', () => undefined); // whoever read it is gone; the run goes on
  const signal = listenForEnd();
  try {
    const options = parseOptions(words, join(root, '.local/outputs.json'));
    if (options) await runUntilEnd(options, openTerminal(process.stdout, process.env), signal);
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    console.error(error instanceof StartError ? error.message : error);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Aborts at the first signal to end; a second one ends the process at once. */
function listenForEnd(): AbortSignal {
  const ending = new AbortController();
  let firstAt: number | undefined;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (firstAt !== undefined && Date.now() - firstAt > echo) process.exit(1);
      firstAt ??= Date.now();
      ending.abort();
    });
  }
  return ending.signal;
}

const root = join(import.meta.dirname, '..');

async function runUntilEnd(options: LocalOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  process.on('uncaughtException', error => {
    terminal.note(
      'local cloud',
      `a bug of its own, the run goes on: ${error.stack?.replaceAll(/\s*\n\s*/g, ' ')}`,
      'error',
    );
  });
  const cloud = await startLocalCloud({ ...options, root, terminal, signal });
  for (const line of greeting(cloud.outputs, options.outputsFile)) terminal.say(line);
  if (!signal.aborted) await once(signal, 'abort');
  terminal.say('\nEnding: what is under way may finish. Ctrl-C again ends at once.');
  await cloud.stop();
}

/** npm passes on the signal that the terminal has already sent: within this time, in milliseconds, it is the same one. */
const echo = 500;

/** What a person reads when the run is ready: where things are, a first request, how to end it. */
function greeting(outputs: RunOutputs, outputsFile: string): readonly string[] {
  const { AuthUrl, BaseUrl, ReceiverUrl, EventsQueueUrl, DynamoDbEndpoint, Demo } = outputs;
  return [
    '',
    'Emissor runs here:',
    `  auth       ${AuthUrl}`,
    `  API        ${BaseUrl}`,
    `  events     ${EventsQueueUrl}`,
    `  receiver   ${ReceiverUrl}   shows what https://receiver.example.com/… gets`,
    `  DynamoDB   ${DynamoDbEndpoint}`,
    `  outputs    ${outputsFile}`,
    '',
    `Demo client and admin of account "${Demo.AccountId}":`,
    `  client_id      ${Demo.ClientId}`,
    `  client_secret  ${Demo.ClientSecret}`,
    `  username       ${Demo.Username}`,
    `  password       ${Demo.Password}`,
    '',
    'A first token:',
    `  curl -s ${AuthUrl}/oauth/v1/token -d grant_type=password \\`,
    `    -d client_id=${Demo.ClientId} -d client_secret=${Demo.ClientSecret} \\`,
    `    -d username=${Demo.Username} -d password=${Demo.Password}`,
    '',
    'Ctrl-C ends it.',
    '',
  ];
}
