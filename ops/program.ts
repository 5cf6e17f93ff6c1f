import { Command, CommanderError, Option } from 'commander';
import { businessEvents } from '../lambdas/delivery/intake/event-catalogue.ts';
import { ConfigurationError, knownStage } from '../lib/stage-files.ts';
import { addAudit } from './audit/audit.command.ts';
import { CommandFailed, makeRun } from './command-line/run.ts';
import type { Streams } from './command-line/terminal.ts';
import { addConsole } from './console/console.command.ts';
import { addDeliveries } from './deliveries/deliveries.command.ts';
import { addDlq } from './deliveries/dlq.command.ts';
import { addEvents } from './deliveries/events.command.ts';
import { addPublish } from './deliveries/publish.command.ts';
import { addRequests } from './deliveries/requests.command.ts';
import { addWebhooks } from './deliveries/webhooks.command.ts';
import { addRollback } from './deployment/rollback.command.ts';
import { addTables } from './deployment/tables.command.ts';
import { addKeys } from './keys/keys.command.ts';
import { addSmoke } from './smoke/smoke.command.ts';
import { addStatus } from './status/status.command.ts';
import { addAccounts } from './tenants/accounts.command.ts';
import { addClients } from './tenants/clients.command.ts';
import { addSessions } from './tenants/sessions.command.ts';
import { addUsers } from './tenants/users.command.ts';

/**
 * Runs the operator's command line.
 *
 * @param streams - the process's own, but for tests; a question that is asked at a terminal goes to the process's in any case.
 * @returns the exit code: 0; 1 for a command that was refused or failed; 2 for one that was not understood.
 */
export async function runOps(args: readonly string[], streams: Streams = process): Promise<number> {
  const asJson = args.includes('--json'); // commander may fail before it parses it
  try {
    await makeProgram(asJson, streams).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      const message = error.message === helpInstead ? 'a command is missing: --help shows them' : tidy(error.message);
      if (asJson) writeJsonError(streams.stderr, message, 2);
      return 2;
    }
    if (!(error instanceof CommandFailed)) throw error;
    if (asJson) writeJsonError(streams.stderr, error.message, 1, error.details);
    else streams.stderr.write(`error: ${error.message}\n`);
    return 1;
  }
}

function makeProgram(asJson: boolean, streams: Streams): Command {
  const program: Command = new Command('ops')
    .usage('[options] <command>')
    .description('Operates an Emissor: its clients, users and keys, its webhooks, and the events it delivers.')
    .addOption(
      new Option('--stage <name>', 'a deployed stage, found by its CloudFormation stacks')
        .argParser(name => stageName(name, program))
        .conflicts('outputs'),
    )
    .option('--outputs <file>', 'the outputs file of another local run, or of "cdk deploy --outputs-file"')
    .option('--yes', 'do without asking what ends sessions or cannot be undone')
    .option('--json', 'write JSON for programs instead of text, of errors too (on standard error)')
    .addHelpText('after', examples)
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({
      writeOut: text => void streams.stdout.write(text),
      writeErr: text => void (asJson || streams.stderr.write(text)),
      outputError: (message, write) => write(`${tidy(message)}\n`),
    })
    .exitOverride();
  const run = makeRun(streams, () => program.opts());
  addClients(program, run);
  addUsers(program, run);
  addSessions(program, run);
  addKeys(program, run);
  addAccounts(program, run);
  addWebhooks(program, run);
  addPublish(program, run, businessEvents);
  addDeliveries(program, run);
  addEvents(program, run);
  addRequests(program, run);
  addDlq(program, run);
  addStatus(program, run);
  addSmoke(program, run, streams);
  addRollback(program, run);
  addTables(program, run);
  addConsole(program, run, streams);
  addAudit(program, run);
  return program;
}

/** Parses the name of a stage that has a file; refuses any other with a message that says how to make one. */
function stageName(name: string, program: Command): string {
  try {
    return knownStage(name);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return program.error(`error: ${error.message}`, { exitCode: 2 });
  }
}

/** The error of commander for a noun without a verb, after it has shown the help. */
const helpInstead = '(outputHelp)';

/**
 * A message of commander on one line, and without the value of an unknown option: that may be a password. Commander puts
 * its suggestions on a second line.
 */
function tidy(message: string): string {
  return message
    .replace(/^(error: unknown option '[^'=]+)=.*'/s, "$1'")
    .replace(/\s*\n\s*/g, ' ')
    .trim();
}

/** An error for programs: one object on standard error, and nothing on standard output. */
function writeJsonError(output: Streams['stderr'], message: string, exitCode: number, details: object = {}): void {
  const code = exitCode === 2 ? 'usage' : 'refused';
  output.write(`${JSON.stringify({ error: message.replace(/^error: /, ''), code, exitCode, ...details })}\n`);
}

const examples = `
Without --stage the commands work on the local run that "npm start" started in this folder. They end with 0; with 1 when
something was refused or failed; with 2 when the command was not understood. With --json errors are one object on standard
error, {"error", "code", "exitCode"}, and no progress is shown; "npm run --silent" keeps npm's own lines off standard output.
What ends sessions or cannot be undone asks first; where there is no terminal to ask at, it is refused without --yes.

Examples:
  npm run ops -- clients create --name "Acme ERP" --grant password --grant refresh_token
  npm run ops -- users create --email ana@acme.com.br --account acme --role admin
  npm run ops -- publish --account acme --event demanda.criada --demand 42
  npm run --silent ops -- --stage prod --json clients list`;
