import { Command, CommanderError, Option } from 'commander';
import { ConfigurationError, requireStage } from '../lib/stage-files.ts';
import type { Noun } from './audit/command.ts';
import { resolvePath } from './command-line/forms.ts';
import { CommandFailed, makeRun, type Run } from './command-line/run.ts';
import type { Streams } from './command-line/terminal.ts';

/**
 * Runs the operator's command line.
 * @param streams - by default the streams of the process. A question at a terminal always uses the default.
 * @returns the exit code: 0 on success, 1 if the command was rejected or failed, and 2 if the command line is invalid.
 */
export async function runOps(args: readonly string[], streams: Streams = process): Promise<number> {
  const isJson = args.includes('--json'); // commander may fail before it parses `--json`
  try {
    const program = makeProgram(isJson, streams);
    const run = makeRun(streams, () => program.opts());
    for (const load of loadersFor(args)) addNoun(program, await load(streams), run);
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      const message =
        error.message === helpInstead ? 'No command was specified. --help lists the commands.' : tidy(error.message);
      if (isJson) writeJsonError(streams.stderr, message, 2);
      return 2;
    }
    if (!(error instanceof CommandFailed)) throw error;
    if (isJson) writeJsonError(streams.stderr, error.message, 1, error.details);
    else streams.stderr.write(`error: ${error.message}\n`);
    return 1;
  }
}

function makeProgram(isJson: boolean, streams: Streams): Command {
  const program: Command = new Command('ops')
    .usage('[options] <command>')
    .description('Operates an Emissor instance: its clients, users, keys, webhooks and events.')
    .addOption(
      new Option('--stage <name>', 'use this deployed stage instead of the local run')
        .argParser(name => stageName(name, program))
        .conflicts('outputs'),
    )
    .option('--outputs <file>', 'the outputs file of another local run, or of "cdk deploy --outputs-file"', resolvePath)
    .option('--yes', 'skip the confirmation before commands that end sessions or cannot be undone')
    .option('--json', 'write JSON instead of text; errors are JSON on standard error')
    .addHelpText('after', examples)
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({
      writeOut: text => void streams.stdout.write(text),
      writeErr: text => void (isJson || streams.stderr.write(text)),
      outputError: (message, write) => write(`${tidy(message)}\n`),
    })
    .exitOverride();
  return program;
}

/**
 * The nouns in the order of the help. Each noun is loaded on demand, because loading the SDK takes longer than running a
 * command.
 */
export const nouns: Readonly<Record<string, (streams: Streams) => Promise<Noun>>> = {
  clients: async () => (await import('./tenants/clients.command.ts')).clients,
  users: async () => (await import('./tenants/users.command.ts')).users,
  sessions: async () => (await import('./tenants/sessions.command.ts')).sessions,
  keys: async () => (await import('./keys/keys.command.ts')).keys,
  accounts: async () => (await import('./tenants/accounts.command.ts')).accounts,
  support: async streams => (await import('./tenants/support.command.ts')).support(streams),
  webhooks: async () => (await import('./deliveries/webhooks.command.ts')).webhooks,
  publish: async () => (await import('./deliveries/publish.command.ts')).publish,
  deliveries: async () => (await import('./deliveries/deliveries.command.ts')).deliveries,
  events: async () => (await import('./deliveries/events.command.ts')).events,
  dlq: async () => (await import('./deliveries/dlq.command.ts')).dlq,
  status: async () => (await import('./status/status.command.ts')).status,
  preflight: async () => (await import('./status/preflight.command.ts')).preflight,
  trace: async streams => (await import('./status/trace.command.ts')).trace(streams),
  smoke: async streams => (await import('./smoke/smoke.command.ts')).smoke(streams),
  rollback: async () => (await import('./deployment/rollback.command.ts')).rollback,
  tables: async () => (await import('./deployment/tables.command.ts')).tables,
  audit: async () => (await import('./audit/audit.command.ts')).audit,
};

function loadersFor(args: readonly string[]) {
  const requested = Object.entries(nouns).filter(([name]) => args.includes(name));
  return (requested.length > 0 ? requested : Object.entries(nouns)).map(([, load]) => load);
}

function addNoun(program: Command, { name, description = '', notes, commands }: Noun, run: Run): void {
  const noun = program.command(name).description(description);
  if (notes !== undefined) noun.addHelpText('after', notes);
  for (const { addTo } of commands) addTo(noun, run);
}

/** Parses the name of a stage that has a file. Rejects any other name with a message on how to create the file. */
function stageName(name: string, program: Command): string {
  try {
    return requireStage(name);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return program.error(`error: ${error.message}`, { exitCode: 2 });
  }
}

/** Commander's error message for a noun without a verb. Commander has already printed the help. */
const helpInstead = '(outputHelp)';

/**
 * Returns commander's message on one line. Removes surplus arguments and the values of unknown options, because they may
 * contain a password. Commander puts its suggestions on a second line.
 */
function tidy(message: string): string {
  return message
    .replace(/^(error: unknown option '(?:--[^'=]+|-[^'-])).*'/s, "$1'")
    .replace(/( but got \d+): .*/s, '$1.')
    .replace(/\s*\n\s*/g, ' ')
    .trim();
}

/** Writes an error for programs, as one object on standard error. Standard output stays empty. */
function writeJsonError(output: Streams['stderr'], message: string, exitCode: number, details: object = {}): void {
  const code = exitCode === 2 ? 'usage' : 'failed';
  output.write(`${JSON.stringify({ error: message.replace(/^error: /, ''), code, exitCode, ...details })}\n`);
}

const examples = `
Without --stage, commands work on the local run that "npm start" started in this folder. The exit code is 0 on success, 1
if the command was rejected or failed, and 2 if the command line is invalid. With --json, an error is one object on standard
error, {"error", "code", "exitCode"}, and progress is hidden. "npm run --silent" hides npm's own output. Commands that end
sessions or cannot be undone ask for confirmation. Without a terminal, they fail unless --yes is set.

Examples:
  npm run ops -- clients create --name "Acme ERP" --grant password --grant refresh_token --account acme
  npm run ops -- users create --email ana@acme.com.br --account acme --role admin
  npm run ops -- publish --account acme --event demanda.criada --demand 42
  npm run --silent ops -- --stage prod --json clients list`;
