import { once } from 'node:events';
import { join } from 'node:path';
import { StartError, UsageError } from './errors.ts';
import { startLocalCloud } from './local-cloud.ts';
import { type LocalOptions, parseOptions } from './options.ts';
import type { RunOutputs } from './outputs.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/**
 * Runs the local cloud until it is asked to stop.
 *
 * @param words - the command line, without node and script
 * @returns the exit code: 0, 1 for a run that failed, 2 for an invalid command line. An error that the user can correct is
 * printed as one line on stderr.
 */
export async function runLocally(words: readonly string[]): Promise<number> {
  process.stdout.on('error', () => undefined); // nobody reads it any more; the run goes on
  const signal = listenForStop();
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

/** Aborts at the first request to stop; a second one ends the process at once. */
function listenForStop(): AbortSignal {
  const stopping = new AbortController();
  let firstAt: number | undefined;
  for (const name of stopSignals) {
    process.on(name, () => {
      if (firstAt !== undefined && Date.now() - firstAt > echo) process.exit(1);
      firstAt ??= Date.now();
      stopping.abort();
    });
  }
  if (process.env.npm_lifecycle_event !== undefined) onParentExit(() => stopping.abort());
  return stopping.signal;
}

/** Closing the console window is SIGHUP on Windows. Elsewhere `nohup` must be able to ignore it. */
const stopSignals: readonly NodeJS.Signals[] =
  process.platform === 'win32' ? ['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP'] : ['SIGINT', 'SIGTERM'];

/**
 * Stops a run whose npm was killed. The script `start` replaces its shell by this program (`exec`), so that npm passes SIGINT
 * and SIGTERM on to it and waits for its end; SIGKILL is not passed on. (On Windows the id of the parent never changes.)
 */
function onParentExit(stop: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, 500).unref();
}

const root = join(import.meta.dirname, '../../..');

async function runUntilEnd(options: LocalOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  process.on('uncaughtException', error => {
    terminal.note(
      'local cloud',
      `internal error, the run goes on: ${error.stack?.replaceAll(/\s*\n\s*/g, ' ')}`,
      'error',
    );
  });
  const cloud = await startLocalCloud({ ...options, root, terminal, signal });
  for (const line of greeting(cloud.outputs, options.outputsFile)) terminal.say(line);
  if (!signal.aborted) await once(signal, 'abort');
  terminal.say('\nStopping: running requests may finish. Ctrl-C again stops at once.');
  await cloud.stop();
}

/** npm repeats the signal that the terminal sent already. Within this time, in milliseconds, it counts as the same one. */
const echo = 500;

/** What is printed when the run is ready: the addresses, a first request, how to stop it. */
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
    ...firstRequest(outputs),
    '',
    'Ctrl-C stops it.',
    '',
  ];
}

/** On Windows it is one line, because its shells continue lines in ways of their own. */
function firstRequest({ AuthUrl, Demo }: RunOutputs): readonly string[] {
  const lines = [
    `  curl -s ${AuthUrl}/oauth/v1/token -d grant_type=password`,
    `-d client_id=${Demo.ClientId} -d client_secret=${Demo.ClientSecret}`,
    `-d username=${Demo.Username} -d password=${Demo.Password}`,
  ];
  return process.platform === 'win32' ? [lines.join(' ').replace('curl', 'curl.exe')] : [lines.join(' \\\n    ')];
}
