import { Command, CommanderError, Option } from 'commander';
import { addClients } from './clients.ts';
import { addDeliveries } from './deliveries.ts';
import { addDlq } from './dlq.ts';
import { addKeys } from './keys.ts';
import { addPublish } from './publish.ts';
import { CommandFailed, run } from './run.ts';
import { addUsers } from './users.ts';
import { addWebhooks } from './webhooks.ts';

const examples = `
Without --stage the commands work on the local run that "npm start" started in this folder.

Examples:
  npm run ops -- clients create --name "Acme ERP" --grant password --grant refresh_token
  npm run ops -- users create --email ana@acme.com.br --account acme --role admin
  npm run ops -- publish --account acme --event demanda.criada --demand 42
  npm run ops -- --stage prod --json clients list`;

/**
 * Commander puts its suggestion on a second line, and repeats the value of an option it does not know: that may be a
 * password.
 */
const tidy = (message: string): string =>
  message
    .replace(/^(error: unknown option '[^'=]+)=.*'/s, "$1'")
    .replace(/\s*\n\s*/g, ' ')
    .trim();

const makeProgram = (): Command => {
  const program = new Command('ops')
    .usage('[options] <command>')
    .description('Operates an Emissor: its clients, users and keys, its webhooks, and the events it delivers.')
    .addOption(
      new Option('--stage <name>', 'a deployed stage, found by its CloudFormation stacks').conflicts('outputs'),
    )
    .option('--outputs <file>', 'the outputs file of another local run, or of "cdk deploy --outputs-file"')
    .option('--json', 'write JSON for programs instead of text')
    .addHelpText('after', examples)
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({ outputError: (message, write) => write(`${tidy(message)}\n`) })
    .exitOverride();
  addClients(program, run);
  addUsers(program, run);
  addKeys(program, run);
  addWebhooks(program, run);
  addPublish(program, run);
  addDeliveries(program, run);
  addDlq(program, run);
  return program;
};

/**
 * Runs the operator's command line.
 *
 * @returns the exit code: 0, 1 for a command that failed, 2 for one that was not understood.
 */
export const runOps = async (args: readonly string[]): Promise<number> => {
  try {
    await makeProgram().parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof CommandFailed)) throw error;
    console.error(`error: ${error.message}`);
    return 1;
  }
};
