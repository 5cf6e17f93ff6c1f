import { once } from 'node:events';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { messageOf, portError, StartError } from '@emissor/cloud/errors';
import { openTerminal, startLocalCloud, type Terminal } from '@emissor/cloud/start';
import { loadConsole } from '../../console/bundle.ts';
import { judgeName } from '../../lambdas/platform/egress/host-name.ts';
import { removeStageDocuments, writeStageDocuments } from '../../tools/openapi/stage-documents.ts';
import { withAdvice } from './advice.ts';
import { cloudRequest, root, type ServiceOutputs } from './cloud-request.ts';
import { greeting } from './greeting.ts';
import { type LocalOptions, parseOptions, UsageError } from './options.ts';

/**
 * Runs Emissor on this machine until it receives a request to stop.
 * @param words - the command line, without node and script.
 * @returns the exit code, which is 0, 1 for a failed run, or 2 for an invalid command line. An error that the user can
 * correct is printed as one line on stderr.
 */
export async function runLocally(words: readonly string[]): Promise<number> {
  // The reader of the output may close it. The run continues.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  const signal = listenForStop();
  try {
    const options = parseOptions(words, join(root, '.local/outputs.json'));
    if (options) await runUntilEnd(options, openTerminal(process.stdout), signal);
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    console.error(error instanceof StartError ? withAdvice(error) : error);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Aborts at the first request to stop. A second request ends the process immediately. */
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

/** Windows reports a closed console window as SIGHUP. On other systems, `nohup` must be able to ignore SIGHUP. */
const stopSignals: readonly NodeJS.Signals[] =
  process.platform === 'win32' ? ['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP'] : ['SIGINT', 'SIGTERM'];

/**
 * Stops a run whose npm was killed. The script `start` replaces its shell with this program (`exec`), so npm forwards
 * SIGINT and SIGTERM and waits for it. npm cannot forward SIGKILL. (On Windows, the parent's id never changes.)
 */
function onParentExit(stop: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, 500).unref();
}

async function runUntilEnd(options: LocalOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  process.on('uncaughtException', error => {
    terminal.note(
      'local cloud',
      `internal error, the run continues: ${error.stack?.replaceAll(/\s*\n\s*/g, ' ')}`,
      'error',
    );
  });
  for (const name of options.mappings.keys()) {
    const finding = judgeName(name, []);
    if (finding) terminal.note('internet', `no webhook can use the host "${name}": ${finding.detail}`, 'warn');
  }
  const consolePort = options.port === 0 ? 0 : options.port + 5;
  const { startConsole } = await loadConsole();
  const pages = await startConsole(consolePort).catch(error => {
    throw portError(error, consolePort);
  });
  const request = cloudRequest(options, { terminal, signal, consoleUrl: pages.url });
  const cleanup: (() => unknown)[] = [pages.stop];
  try {
    const { outputs, stop } = await startLocalCloud(request);
    cleanup.push(stop);
    const makeLink = pages.open(consoleOptions(outputs));
    const documents = writeDocuments(options, outputs);
    cleanup.push(() => removeStageDocuments(documents));
    const details = { ...options, consoleLink: makeLink() };
    for (const line of greeting(outputs, details)) terminal.say(line);
    onEnter(() => terminal.say(`console    ${makeLink()}`));
    if (!signal.aborted) await once(signal, 'abort');
    terminal.say('\nStopping when running requests have finished. Press Ctrl-C again to stop immediately.');
  } finally {
    await Promise.allSettled(cleanup.map(async step => step()));
  }
}

/** Returns the options of the console, whose links sign in as the demo admin. */
function consoleOptions({ AuthUrl, BaseUrl, Demo }: ServiceOutputs) {
  return {
    service: { authUrl: AuthUrl, baseUrl: BaseUrl, fetch },
    credentials: {
      client_id: Demo.ClientId,
      client_secret: Demo.ClientSecret,
      username: Demo.Username,
      password: Demo.Password,
    },
  };
}

/** Writes documents named after the outputs file, because the folder may contain documents that are not of this run. */
function writeDocuments({ outputsFile }: LocalOptions, { AuthUrl, BaseUrl }: ServiceOutputs) {
  const prefix = `${basename(outputsFile, '.json')}.`;
  try {
    return writeStageDocuments(dirname(outputsFile), { auth: AuthUrl, base: BaseUrl }, prefix);
  } catch (error) {
    const problem = `The OpenAPI documents could not be written next to ${outputsFile}: ${messageOf(error)}`;
    throw new StartError(problem, 'outputs-unwritable');
  }
}

/** Calls a function each time Enter is pressed, if there is a terminal. */
function onEnter(act: () => void): void {
  if (process.stdin.isTTY) createInterface({ input: process.stdin }).on('line', act);
}

/** npm repeats the signal that the terminal has already sent. Within this time, in milliseconds, both count as one. */
const echo = 500;
