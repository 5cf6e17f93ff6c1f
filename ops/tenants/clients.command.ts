import type { Command } from 'commander';
import { type Client, grantTypes } from '../../lambdas/auth/principals/client.ts';
import type { PageRequest } from '../../lambdas/auth/principals/scan.ts';
import { scopes } from '../../lambdas/auth/principals/scope.ts';
import {
  afterOption,
  clientId,
  displayName,
  limitOption,
  ordinaryAccountId,
  repeatable,
  wholeNumber,
} from '../command-line/option-values.ts';
import { iso, type Line, makeShape, type Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import type { ClientInUse, ClientSettings, ClientWithSecret } from './clients.ts';

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
    .action(run(actions, all => all.createClient, withNewSecret));

  const listAll = run(actions, all => all.listClients, listed);
  const listOld = run(actions, all => all.listOldSecrets, listedOld);
  clients
    .command('list')
    .description('list all clients, a page of them, or those whose old secret still works, with its last use')
    .option('--old-secret', 'those whose old secret still works; all are read for them')
    .addOption(limitOption())
    .addOption(afterOption('client', clientId).conflicts('oldSecret'))
    .action(({ oldSecret, ...page }: PageRequest & { readonly oldSecret?: true }) =>
      oldSecret ? listOld(page) : listAll(page),
    );

  clients
    .command('show')
    .description('show a client; of each secret when it was made, last used, and ends')
    .argument(...clientArgument)
    .action(run(actions, all => all.showClient, inUse));

  const update = run(actions, all => all.updateClient, shown);
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
      return update(clientId, wanted);
    });

  for (const [name, action, description] of [
    ['enable', 'enableClient', 'let a disabled client in again'],
    ['disable', 'disableClient', 'shut a client out; its sessions are over for good'],
  ] as const) {
    clients
      .command(name)
      .description(description)
      .argument(...clientArgument)
      .action(run(actions, all => all[action], changed));
  }

  clients
    .command('delete')
    .description('delete a client and end its sessions')
    .argument(...clientArgument)
    .action(run(actions, all => all.deleteClient, deleted));

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
    .addHelpText('after', examples)
    .action(run(actions, all => all.rotateSecret, withNewSecret));
}

const examples = `
Examples:
  npm run ops -- clients create --name "Acme ERP" --grant password --grant refresh_token
  npm run ops -- clients create --name "Acme only" --grant password --account acme --scope webhooks:read --grace-seconds 0
  npm run ops -- clients update 4f6KqXkD1nVb8sYfTzR4uW --scope webhooks:read --scope webhooks:manage
  npm run ops -- --stage prod clients rotate-secret 4f6KqXkD1nVb8sYfTzR4uW --overlap-seconds 3600
  npm run ops -- --stage prod clients rotate-secret 4f6KqXkD1nVb8sYfTzR4uW --overlap-seconds 0  # it leaked`;

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

const clientArgument = ['<client-id>', 'as create and list show it', clientId] as const;

/** Returns the options on the command line: commander sets an option that can be negated even if nobody gave it. */
function given(options: ClientSettings, command: Command): ClientSettings {
  return Object.fromEntries(Object.entries(options).filter(([name]) => command.getOptionValueSource(name) === 'cli'));
}

function actions() {
  return import('./clients.ts');
}

const client = makeShape<Client>([
  { json: 'clientId', heading: 'client_id', column: 'client id', value: ({ clientId }) => clientId },
  { json: 'name', heading: 'name', value: ({ name }) => name },
  { json: 'grants', heading: 'grants', value: ({ grants }) => grants, text: ({ grants }) => grants.join(', ') },
  {
    json: 'scopes',
    heading: 'scopes',
    in: 'show',
    value: ({ scopes }) => scopes,
    text: ({ scopes }) => scopes.join(', '),
  },
  {
    json: 'accountId',
    heading: 'account',
    value: ({ accountId }) => accountId,
    text: ({ accountId }) => accountId ?? 'any',
  },
  {
    json: 'graceSeconds',
    heading: 'grace',
    value: ({ graceSeconds }) => graceSeconds,
    text: ({ graceSeconds }) => `${graceSeconds} s`,
  },
  {
    json: 'introspect',
    heading: 'introspects',
    in: 'show',
    value: ({ introspect }) => introspect,
    text: ({ introspect }) => (introspect ? 'tokens of all clients' : 'its own tokens'),
  },
  { json: 'status', heading: 'status', value: ({ status }) => status },
  {
    json: 'secrets', // without their hashes
    value: ({ secrets }) => secrets.map(secretJson),
  },
  { json: 'createdAt', value: ({ createdAt }) => iso(createdAt) },
  { json: 'updatedAt', value: ({ updatedAt }) => iso(updatedAt) },
]);

const listed = client.list('No clients. Create one: npm run ops -- clients create --name "Acme ERP" --grant password');

const oldSecret = makeShape<ClientInUse>([
  { heading: 'client id', value: ({ client: found }) => found.clientId },
  { heading: 'name', value: ({ client: found }) => found.name },
  { heading: 'old secret works until', value: ({ client: found }) => iso(found.secrets[1]?.expiresAt) },
  {
    heading: 'last used on',
    value: ({ lastUses }) => lastUses[1],
    text: ({ lastUses }) => lastUses[1] ?? 'no use is known',
  },
]);

function listedOld(found: readonly ClientInUse[]): Report {
  return {
    json: found.map(one => inUse(one).json),
    text: oldSecret.table(found, 'No client has an old secret that still works.'),
  };
}

const changed = client.tell(
  ({ clientId, name, status }) =>
    `Client ${clientId} (${name}) is ${status}.${status === 'disabled' ? ' Its sessions are over; enabling it again brings none back.' : ''}`,
);

function shown(found: Client): Report {
  return { json: client.json(found), text: client.lines(found, secretsOf(found)) };
}

function inUse({ client: found, lastUses }: ClientInUse): Report {
  const json = client.json(found);
  const secrets = found.secrets.map((secret, at) => ({ ...secretJson(secret), lastUsedOn: lastUses[at] ?? null }));
  return { json: { ...json, secrets }, text: client.lines(found, secretsOf(found, lastUses)) };
}

function withNewSecret({ client: found, clientSecret }: ClientWithSecret): Report {
  const text = client.lines(found, [...secretsOf(found), ['client_secret', clientSecret]]);
  return {
    json: { ...client.json(found), clientSecret },
    text: `${text}\n\nThe secret is shown this once and kept nowhere: store it now.`,
  };
}

function deleted({ clientId, name }: Client): Report {
  return {
    json: { clientId, deleted: true },
    text: `Client ${clientId} (${name}) is deleted, and its sessions are over.`,
  };
}

function secretsOf({ secrets }: Client, lastUses?: ClientInUse['lastUses']): readonly Line[] {
  return secrets.map(({ createdAt, expiresAt }, at) => {
    const end = expiresAt === undefined ? 'works until it is replaced' : worksUntil(expiresAt);
    const use = lastUses?.[at] === undefined ? 'no use is known' : `last used on ${lastUses[at]}`;
    return [`secret of ${iso(createdAt)}`, lastUses ? `${end}; ${use}` : end];
  });
}

function secretJson({ createdAt, expiresAt }: Client['secrets'][number]) {
  return { createdAt: iso(createdAt), expiresAt: iso(expiresAt) };
}

function worksUntil(moment: number): string {
  return moment <= Date.now() ? `ended at ${iso(moment)}` : `works until ${iso(moment)}`;
}
