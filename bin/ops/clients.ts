import type { Command } from 'commander';
import { type Client, type GrantType, grantTypes } from '../../lambdas/auth/principals/client.ts';
import type { ClientChanges, ClientStore, SecretRotation } from '../../lambdas/auth/principals/client-store.ts';
import { type Scope, scopes } from '../../lambdas/auth/principals/scope.ts';
import type { PageRequest } from '../../lambdas/auth/principals/user-store.ts';
import { CliError } from './cli-error.ts';
import { reportClient, reportClients } from './client-report.ts';
import {
  accountId,
  afterOption,
  displayName,
  limitOption,
  notEmpty,
  repeatable,
  wholeNumber,
} from './option-values.ts';
import type { Report } from './report.ts';
import type { Run } from './run.ts';
import type { Target } from './target.ts';
import { confirm, yesOption } from './terminal.ts';

/** Adds `clients`. */
export function addClients(program: Command, run: Run): void {
  const clients = program
    .command('clients')
    .description('clients of the token endpoint: create, list, show, update, enable, disable, delete, rotate-secret')
    .addHelpText('after', examples);

  addSettings(
    clients
      .command('create')
      .description('create a client; its secret is shown once')
      .requiredOption('--name <name>', 'what people call it', displayName)
      .addOption(repeatable('--grant <type>', 'a grant it may use (repeatable)', grantTypes).makeOptionMandatory()),
    { scope: '; default: all', grace: 'default 30, ' },
  )
    .addHelpText('after', examples)
    .action((options: Required<Pick<Settings, 'name' | 'grant'>>, command: Command) =>
      run(command, target => create(target, options)),
    );

  clients
    .command('list')
    .description('list all clients, or a page of them')
    .addOption(limitOption())
    .addOption(afterOption('client'))
    .action((page: PageRequest, command: Command) => run(command, target => list(target, page)));

  clients
    .command('show')
    .description('show a client and until when its secrets work')
    .argument(...clientArgument)
    .action((clientId: string, _options: object, command: Command) => run(command, target => show(target, clientId)));

  addSettings(
    clients
      .command('update')
      .description('change the settings given, and no others; another account ends its sessions, nothing else does')
      .argument(...clientArgument)
      .option('--name <name>', 'what people call it', displayName)
      .addOption(repeatable('--grant <type>', 'a grant it may use (repeatable)', grantTypes)),
  )
    .option('--no-account', 'log in users of any account')
    .option('--no-introspect', 'let it introspect its own tokens only')
    .addHelpText('after', examples)
    .action((clientId: string, options: Settings, command: Command) => {
      const wanted = given(options, command);
      if (Object.keys(wanted).length === 0) {
        command.error('error: nothing to change was given: name at least one setting (--help shows them).');
      }
      return run(command, target => update(target, clientId, wanted));
    });

  for (const [name, status] of [
    ['enable', 'enabled'],
    ['disable', 'disabled'],
  ] as const) {
    clients
      .command(name)
      .description(
        status === 'enabled' ? 'let a disabled client in again' : 'shut a client out; its sessions are over for good',
      )
      .argument(...clientArgument)
      .action((clientId: string, _options: object, command: Command) =>
        run(command, target => setStatus(target, clientId, status)),
      );
  }

  clients
    .command('delete')
    .description('delete a client and end its sessions')
    .argument(...clientArgument)
    .addOption(yesOption())
    .action((clientId: string, options: Confirmed, command: Command) =>
      run(command, target => remove(target, clientId, options)),
    );

  clients
    .command('rotate-secret')
    .description('give a client a new secret, shown once; the one used so far works on for a while')
    .argument(...clientArgument)
    .option(
      '--overlap-seconds <s>',
      'how long the newest one so far works on (default 86400; 0 ends every other secret at once)',
      wholeNumber(0, 31_536_000),
    )
    .option('--drop-oldest', 'end the older one where two secrets work')
    .addOption(yesOption())
    .addHelpText('after', examples)
    .action((clientId: string, options: SecretRotation & Confirmed, command: Command) =>
      run(command, target => rotateSecret(target, clientId, options)),
    );
}

const examples = `
Examples:
  npm run ops -- clients create --name "Acme ERP" --grant password --grant refresh_token
  npm run ops -- clients create --name "Acme only" --grant password --account acme --scope webhooks:read --grace-seconds 0
  npm run ops -- clients update 4f6Kq... --scope webhooks:read --scope webhooks:manage
  npm run ops -- --stage prod clients rotate-secret 4f6Kq... --overlap-seconds 3600
  npm run ops -- --stage prod clients rotate-secret 4f6Kq... --overlap-seconds 0     # it leaked: nothing old works on`;

/** What create and update have in common. What update is not told stays as it was: `defaults` are those of create. */
function addSettings(command: Command, defaults: { readonly scope?: string; readonly grace?: string } = {}): Command {
  return command
    .addOption(repeatable('--scope <scope>', `a scope its tokens may have (repeatable${defaults.scope ?? ''})`, scopes))
    .option('--account <id>', 'log in users of this account only', accountId)
    .option(
      '--grace-seconds <s>',
      `how long a used refresh token still gives its successor (${defaults.grace ?? ''}0 is strict)`,
      wholeNumber(0, 3_600),
    )
    .option('--introspect', "let it introspect other clients' tokens");
}

interface Settings {
  readonly name?: string;
  readonly grant?: GrantType[];
  readonly scope?: Scope[];
  /** `false` for none. */
  readonly account?: string | false;
  readonly graceSeconds?: number;
  readonly introspect?: boolean;
}

async function create(target: Target, options: Settings & Required<Pick<Settings, 'name' | 'grant'>>) {
  const { client, clientSecret } = await (await openStore(target)).createClient({
    ...settings(options),
    name: options.name,
    grants: withoutRepetition(options.grant),
    ...(options.account ? { accountId: options.account } : {}),
  });
  return reportClient(client, clientSecret);
}

async function list(target: Target, page: PageRequest): Promise<Report> {
  return reportClients(await (await openStore(target)).listClients(page));
}

const clientArgument = ['<client-id>', 'as create and list show it', notEmpty] as const;

async function show(target: Target, clientId: string): Promise<Report> {
  return reportClient(await changed(clientId, (await openStore(target)).findClient(clientId)));
}

/** What a person gave: commander counts an option that can be negated as given. */
function given(options: Settings, command: Command): Settings {
  return Object.fromEntries(Object.entries(options).filter(([name]) => command.getOptionValueSource(name) === 'cli'));
}

async function update(target: Target, clientId: string, options: Settings): Promise<Report> {
  const changes: ClientChanges = {
    ...settings(options),
    ...(options.account === undefined ? {} : { accountId: options.account === false ? null : options.account }),
  };
  return reportClient(await changed(clientId, (await openStore(target)).updateClient(clientId, changes)));
}

async function setStatus(target: Target, clientId: string, status: Client['status']): Promise<Report> {
  const client = await changed(clientId, (await openStore(target)).setClientStatus(clientId, status));
  const what = status === 'disabled' ? ' Its sessions are over; enabling it again brings none back.' : '';
  const text = `Client ${client.clientId} (${client.name}) is ${status}.${what}`;
  return { json: reportClient(client).json, text };
}

interface Confirmed {
  readonly yes?: boolean;
}

async function remove(target: Target, clientId: string, { yes }: Confirmed): Promise<Report> {
  const store = await openStore(target);
  const { name } = await changed(clientId, store.findClient(clientId));
  await confirm(`This deletes client ${clientId} (${name}) of ${target.label} and ends its sessions.`, yes);
  const client = await changed(clientId, store.deleteClient(clientId));
  return {
    json: { clientId, deleted: true },
    text: `Client ${clientId} (${client.name}) is deleted, and its sessions are over.`,
  };
}

async function rotateSecret(
  target: Target,
  clientId: string,
  { yes, ...rotation }: SecretRotation & Confirmed,
): Promise<Report> {
  const store = await openStore(target);
  const { name } = await changed(clientId, store.findClient(clientId));
  if (rotation.overlapSeconds === 0) {
    await confirm(`This ends every secret that client ${clientId} (${name}) uses now.`, yes);
  }
  try {
    const { client, clientSecret } = await changed(clientId, store.rotateClientSecret(clientId, rotation));
    return reportClient(client, clientSecret);
  } catch (error) {
    if (!isNamed(error, 'TwoSecretsError')) throw error;
    throw new CliError(
      `two secrets of client "${clientId}" work already: "clients show" tells until when. Wait for the older one to end, ` +
        'end it now with --drop-oldest, or end both with --overlap-seconds 0.',
    );
  }
}

async function openStore(target: Target): Promise<ClientStore> {
  return (await import('./stores.ts')).openClients(target);
}

/** What was given, in the words of the store. */
function settings({ name, grant, scope, graceSeconds, introspect }: Settings) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(grant === undefined ? {} : { grants: withoutRepetition(grant) }),
    ...(scope === undefined ? {} : { scopes: withoutRepetition(scope) }),
    ...(graceSeconds === undefined ? {} : { graceSeconds }),
    ...(introspect === undefined ? {} : { introspect }),
  };
}

function withoutRepetition<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}

/** The client as a change left it. @throws {CliError} where there is none, or somebody else changed it at the same moment. */
async function changed<Answer>(clientId: string, change: Promise<Answer | undefined>): Promise<Answer> {
  try {
    const answer = await change;
    if (answer === undefined) throw noClient(clientId);
    return answer;
  } catch (error) {
    if (error instanceof Error && isNamed(error, 'ClientConflictError')) throw new CliError(error.message);
    throw error;
  }
}

function noClient(clientId: string) {
  return new CliError(`there is no client "${clientId}": "clients list" shows them.`);
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}
