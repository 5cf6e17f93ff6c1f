import type { Command } from 'commander';
import { type Client, grantTypes } from '../../lambdas/auth/principals/client.ts';
import type { SecretRotation } from '../../lambdas/auth/principals/client-store.ts';
import type { PageRequest } from '../../lambdas/auth/principals/scan.ts';
import { scopes } from '../../lambdas/auth/principals/scope.ts';
import type { ClientSettings, ClientWithSecret, NewClientSettings } from './client-actions.ts';
import {
  afterOption,
  displayName,
  limitOption,
  notEmpty,
  ordinaryAccountId,
  repeatable,
  wholeNumber,
} from './option-values.ts';
import { fields, iso, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import { type Confirmed, yesOption } from './terminal.ts';

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
    .action((options: NewClientSettings, command: Command) =>
      run(command, async target => (await actions()).createClient(target, options), reportNewSecret),
    );

  clients
    .command('list')
    .description('list all clients, or a page of them')
    .addOption(limitOption())
    .addOption(afterOption('client'))
    .action((page: PageRequest, command: Command) =>
      run(command, async target => (await actions()).listClients(target, page), reportClients),
    );

  clients
    .command('show')
    .description('show a client and until when its secrets work')
    .argument(...clientArgument)
    .action((clientId: string, _options: object, command: Command) =>
      run(command, async target => (await actions()).showClient(target, clientId), reportClient),
    );

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
    .action((clientId: string, options: ClientSettings, command: Command) => {
      const wanted = given(options, command);
      if (Object.keys(wanted).length === 0) {
        command.error('error: nothing to change was given: name at least one setting (--help shows them).');
      }
      return run(command, async target => (await actions()).updateClient(target, clientId, wanted), reportClient);
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
        run(command, async target => (await actions()).setStatus(target, clientId, status), reportStatus),
      );
  }

  clients
    .command('delete')
    .description('delete a client and end its sessions')
    .argument(...clientArgument)
    .addOption(yesOption())
    .action((clientId: string, options: Confirmed, command: Command) =>
      run(command, async target => (await actions()).deleteClient(target, clientId, options), reportDeleted),
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
      run(command, async target => (await actions()).rotateSecret(target, clientId, options), reportNewSecret),
    );
}

const examples = `
Examples:
  npm run ops -- clients create --name "Acme ERP" --grant password --grant refresh_token
  npm run ops -- clients create --name "Acme only" --grant password --account acme --scope webhooks:read --grace-seconds 0
  npm run ops -- clients update 4f6Kq... --scope webhooks:read --scope webhooks:manage
  npm run ops -- --stage prod clients rotate-secret 4f6Kq... --overlap-seconds 3600
  npm run ops -- --stage prod clients rotate-secret 4f6Kq... --overlap-seconds 0     # it leaked: nothing old works on`;

/** The options that create and update share. Only create has defaults: what update is not given stays as it was. */
function addSettings(command: Command, defaults: { readonly scope?: string; readonly grace?: string } = {}): Command {
  return command
    .addOption(repeatable('--scope <scope>', `a scope its tokens may have (repeatable${defaults.scope ?? ''})`, scopes))
    .option('--account <id>', 'log in users of this account only', ordinaryAccountId)
    .option(
      '--grace-seconds <s>',
      `how long a used refresh token still gives its successor (${defaults.grace ?? ''}0 is strict)`,
      wholeNumber(0, 3_600),
    )
    .option('--introspect', "let it introspect other clients' tokens");
}

const clientArgument = ['<client-id>', 'as create and list show it', notEmpty] as const;

/** The options on the command line: commander sets an option that can be negated even if nobody gave it. */
function given(options: ClientSettings, command: Command): ClientSettings {
  return Object.fromEntries(Object.entries(options).filter(([name]) => command.getOptionValueSource(name) === 'cli'));
}

function actions() {
  return import('./client-actions.ts');
}

function reportNewSecret({ client, clientSecret }: ClientWithSecret): Report {
  return reportClient(client, clientSecret);
}

/** One client, with its secret if that is new. */
function reportClient(client: Client, clientSecret?: string): Report {
  const works = client.secrets.map(({ createdAt, expiresAt }): [string, string] => [
    `secret of ${iso(createdAt)}`,
    expiresAt === undefined ? 'works until it is replaced' : worksUntil(expiresAt),
  ]);
  const text = fields([
    ['client_id', client.clientId],
    ['name', client.name],
    ['grants', client.grants.join(', ')],
    ['scopes', client.scopes.join(', ')],
    ['account', client.accountId ?? 'any'],
    ['grace', `${client.graceSeconds} s`],
    ['introspects', client.introspect ? 'tokens of all clients' : 'its own tokens'],
    ['status', client.status],
    ...works,
    ...(clientSecret === undefined ? [] : [['client_secret', clientSecret] as const]),
  ]);
  const note = clientSecret === undefined ? '' : '\n\nThe secret is shown this once and kept nowhere: store it now.';
  return {
    json: { ...viewClient(client), ...(clientSecret === undefined ? {} : { clientSecret }) },
    text: `${text}${note}`,
  };
}

function reportStatus(client: Client): Report {
  const what = client.status === 'disabled' ? ' Its sessions are over; enabling it again brings none back.' : '';
  return { json: viewClient(client), text: `Client ${client.clientId} (${client.name}) is ${client.status}.${what}` };
}

function reportDeleted({ clientId, name }: Client): Report {
  return {
    json: { clientId, deleted: true },
    text: `Client ${clientId} (${name}) is deleted, and its sessions are over.`,
  };
}

/** Many clients, one on a line. */
function reportClients(clients: readonly Client[]): Report {
  const columns = [
    { heading: 'CLIENT ID', cell: (client: Client) => client.clientId },
    { heading: 'NAME', cell: (client: Client) => client.name },
    { heading: 'GRANTS', cell: (client: Client) => client.grants.join(', ') },
    { heading: 'ACCOUNT', cell: (client: Client) => client.accountId ?? 'any' },
    { heading: 'GRACE', cell: (client: Client) => `${client.graceSeconds} s` },
    { heading: 'STATUS', cell: (client: Client) => client.status },
  ];
  const whenEmpty = 'No clients. Create one: npm run ops -- clients create --name "Acme ERP" --grant password';
  return { json: clients.map(viewClient), text: table(clients, columns, whenEmpty) };
}

function worksUntil(moment: number): string {
  return moment <= Date.now() ? `ended at ${iso(moment)}` : `works until ${iso(moment)}`;
}

/** The JSON of a client, without the hashes of its secrets. */
function viewClient(client: Client) {
  return {
    clientId: client.clientId,
    name: client.name,
    grants: client.grants,
    scopes: client.scopes,
    accountId: client.accountId ?? null,
    graceSeconds: client.graceSeconds,
    introspect: client.introspect,
    status: client.status,
    secrets: client.secrets.map(({ createdAt, expiresAt }) => ({
      createdAt: iso(createdAt),
      expiresAt: iso(expiresAt),
    })),
    createdAt: iso(client.createdAt),
    updatedAt: iso(client.updatedAt),
  };
}
