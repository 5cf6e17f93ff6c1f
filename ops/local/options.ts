import { messageOf, StartError } from '@emissor/cloud/errors';
import { parseMapping } from '@emissor/cloud/hosts';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { stageConfiguration } from '../../lib/config.ts';
import { ConfigurationError } from '../../lib/stage-files.ts';
import { resolvePath } from '../command-line/forms.ts';

/** The parsed command line of a local run. */
export interface LocalOptions {
  /** The port of {auth_url}. The other parts use the following ports. With 0, each part uses any free port. */
  readonly port: number;
  /** The folder that stores tables, queues, keys and demo data across restarts. Without it, they are in memory. */
  readonly dataDirectory?: string;
  /** The ports of plain HTTP servers on 127.0.0.1, by public host name. */
  readonly mappings: ReadonlyMap<string, number>;
  /** The file with more host names. The run reads it again whenever it changes. */
  readonly hostsFile?: string;
  /** The file with the faults to inject. The run reads it again whenever it changes. */
  readonly faultsFile?: string;
  /** The cloud assembly to run. By default, the run synthesises the app. */
  readonly assemblyDirectory?: string;
  /** The stage values to override, as the context of the CDK app. */
  readonly stageValues: Readonly<Record<string, string>>;
  /** The file to which the run writes its URLs and credentials. */
  readonly outputsFile: string;
}

export class UsageError extends StartError {
  override readonly name = 'UsageError';
}

/**
 * Parses the command line, without node and script.
 * @returns the options, or `undefined` if the help was requested and printed.
 * @throws {UsageError} if the command line is invalid.
 */
export function parseOptions(args: readonly string[], defaultOutputsFile: string): LocalOptions | undefined {
  const command = makeCommand(defaultOutputsFile);
  try {
    command.parse(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return undefined;
    throw asUsageError(error);
  }
  const options = command.opts();
  const empty = command.options.find(option => options[option.attributeName()] === ''); // a shell variable may be unset
  if (empty) throw new UsageError(`${empty.long} must not be empty.`);
  if (options.assembly !== undefined && (options.set !== undefined || options.retrySchedule !== undefined)) {
    throw new UsageError(
      'The assembly already contains its stage values. --assembly cannot be used with --set or --retry-schedule.',
    );
  }
  return {
    port: options.port,
    ...(options.data === undefined ? {} : { dataDirectory: resolvePath(options.data) }),
    mappings: options.map ?? new Map(),
    ...(options.hosts === undefined ? {} : { hostsFile: resolvePath(options.hosts) }),
    ...(options.faults === undefined ? {} : { faultsFile: resolvePath(options.faults) }),
    ...(options.assembly === undefined ? {} : { assemblyDirectory: resolvePath(options.assembly) }),
    stageValues: checkStageValues({
      ...options.set,
      ...(options.retrySchedule === undefined ? {} : { retrySchedule: options.retrySchedule }),
    }),
    outputsFile: resolvePath(options.outputs),
  };
}

function makeCommand(defaultOutputsFile: string): Command {
  return new Command('npm start --')
    .description('Synthesises the CDK app for stage "local" and runs its templates on this machine.')
    .option(
      '--port <number>',
      'the port N of auth; the API listens on N+1, the receiver on N+2, SQS on N+3, DynamoDB on N+4, the console on N+5; with 0, each uses any free port',
      parsePort,
      4000,
    )
    .option('--data <directory>', 'store state across restarts in this directory (default: in memory)')
    .option('--map <host=url>', 'forward https://HOST/ to http://127.0.0.1:PORT (repeatable)', addMapping)
    .option(
      '--hosts <file>',
      'JSON file with more hosts, from name to URL or list of addresses (packages/cloud/src/local/README.md); read again when it changes',
    )
    .option(
      '--faults <file>',
      'JSON file with faults to inject, with their rates (packages/cloud/src/local/README.md); read again when it changes',
    )
    .option('--assembly <directory>', 'run this cloud assembly (default: synthesise the app)')
    .option('--retry-schedule <waits>', 'the waits between delivery attempts, such as 1s,2s,5s')
    .option('--set <key=value>', 'override a value of the stage configuration (repeatable)', addStageValue)
    .option('--outputs <file>', 'the file for URLs and demo credentials', defaultOutputsFile)
    .helpOption('--help', 'show this help')
    .allowExcessArguments(false)
    .showSuggestionAfterError(false)
    .configureOutput({ writeErr: () => undefined })
    .exitOverride();
}

/** Converts commander's error to a one-line usage error. Returns other errors unchanged. */
function asUsageError(error: unknown): unknown {
  return error instanceof CommanderError
    ? new UsageError(`${error.message.replace(/^error: /, '').replaceAll('\n', ' ')} (--help shows the options)`)
    : error;
}

/** Checks stage values before the synthesis, which takes seconds. */
function checkStageValues(values: Record<string, string>): Record<string, string> {
  const domain = ['authDomain', 'baseDomain'].find(key => key in values);
  if (domain !== undefined) throw new UsageError(`A local run cannot have custom domains (${domain}).`);
  if ('smokeSchedule' in values) throw new UsageError('A local run has no smokeSchedule. Run "npm run smoke".');
  try {
    stageConfiguration('local', values);
    return values;
  } catch (error) {
    throw error instanceof ConfigurationError ? new UsageError(error.message) : error;
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= lastFirstPort) return port;
  throw new InvalidArgumentError(`It must be a whole number from 0 to ${lastFirstPort}. A run uses 6 ports.`);
}

/** The maximum value of `--port`. The run uses five more ports. */
const lastFirstPort = 65_530;

function addMapping(text: string, earlier: ReadonlyMap<string, number> = new Map()): ReadonlyMap<string, number> {
  try {
    const { name, port } = parseMapping(text);
    return new Map([...earlier, [name, port]]);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}

function addStageValue(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [, key, value] = /^([A-Za-z][A-Za-z0-9]*)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new InvalidArgumentError('It must be KEY=VALUE.');
  if (key === 'stage') throw new InvalidArgumentError('A local run always uses stage "local".');
  return { ...earlier, [key]: value };
}
