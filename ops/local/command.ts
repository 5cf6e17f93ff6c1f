import { once } from 'node:events';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { messageOf, portError, StartError } from '@emissor/cloud/errors';
import { openTerminal, startLocalCloud, type Terminal } from '@emissor/cloud/start';
import { loadConsole } from '../../console/bundle.ts';
import { checkName } from '../../lambdas/platform/egress/host-name.ts';
import { removeStageDocuments, writeStageDocuments } from '../../tools/openapi/stage-documents.ts';
import { describeStartError } from './advice.ts';
import { cloudRequest, root, type ServiceOutputs } from './cloud-request.ts';
import { greeting } from './greeting.ts';
import { type LocalOptions, parseOptions, UsageError } from './options.ts';

/**
 * Runs Emissor on this machine until it receives a signal to stop. Prints an error that the user can correct as one line
 * on standard error.
 * @param args - the command line, without node and script.
 * @returns the exit code: 0 on success, 1 if the run failed, and 2 if the command line is invalid.
 */
export async function runLocally(args: readonly string[]): Promise<number> {
  // The run continues if the program that reads the output closes it.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  const signal = listenForStopSignals();
  try {
    const options = parseOptions(args, join(root, '.local/outputs.json'));
    if (options) await runUntilEnd(options, openTerminal(process.stdout), signal);
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    console.error(error instanceof StartError ? describeStartError(error) : error);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Returns an abort signal for the first stop signal to the process. A second stop signal ends the process immediately. */
function listenForStopSignals(): AbortSignal {
  const stopping = new AbortController();
  let firstAt: number | undefined;
  for (const name of stopSignals) {
    process.on(name, () => {
      if (firstAt !== undefined && Date.now() - firstAt > echoMs) process.exit(1);
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
 * Stops the run if the npm process that started it was killed. The script `start` replaces its shell with this program
 * (`exec`), so npm forwards SIGINT and SIGTERM and waits. It cannot forward SIGKILL. On Windows, the parent id never changes.
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
    const finding = checkName(name, []);
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
    for (const line of greeting(outputs, details)) terminal.print(line);
    onEnter(() => terminal.print(`console    ${makeLink()}`));
    if (!signal.aborted) await once(signal, 'abort');
    terminal.print('\nStopping after the requests in flight. Press Ctrl-C again to stop immediately.');
  } finally {
    await Promise.allSettled(cleanup.map(async step => step()));
  }
}

/** Returns the options of the console. Its links log in as the demo admin. */
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

/** Writes the OpenAPI documents. Their names start with the name of the outputs file, so that each run keeps its own. */
function writeDocuments({ outputsFile }: LocalOptions, { AuthUrl, BaseUrl }: ServiceOutputs) {
  const prefix = `${basename(outputsFile, '.json')}.`;
  try {
    return writeStageDocuments(dirname(outputsFile), { auth: AuthUrl, base: BaseUrl }, prefix);
  } catch (error) {
    const problem = `Could not write the OpenAPI documents next to ${outputsFile}: ${messageOf(error)}`;
    throw new StartError(problem, 'outputs-unwritable');
  }
}

/** Calls a function each time the user presses Enter, if there is a terminal. */
function onEnter(act: () => void): void {
  if (process.stdin.isTTY) createInterface({ input: process.stdin }).on('line', act);
}

/** Signals within this time are treated as one, because npm repeats the terminal's signal. In milliseconds. */
const echoMs = 500;
