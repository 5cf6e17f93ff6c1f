import { type Command, Option } from 'commander';
import { type Client, type GrantType, grantTypes } from '../../lambdas/auth/client.ts';
import type { ClientStore } from '../../lambdas/auth/client-store.ts';
import { Fault } from './fault.ts';
import { accountId, displayName, notEmpty, wholeNumber } from './option-values.ts';
import { fields, iso, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import type { Target } from './target.ts';

const openStore = async (target: Target): Promise<ClientStore> => (await import('./documents.ts')).openClients(target);

/** What is shown of a client: everything but the hashes of its secrets. */
const view = (client: Client) => ({
  clientId: client.clientId,
  name: client.name,
  grants: client.grants,
  accountId: client.accountId ?? null,
  graceSeconds: client.graceSeconds,
  introspect: client.introspect,
  status: client.status,
  secrets: client.secrets.map(({ createdAt, expiresAt }) => ({ createdAt: iso(createdAt), expiresAt: iso(expiresAt) })),
  createdAt: iso(client.createdAt),
  updatedAt: iso(client.updatedAt),
});

const describe = (client: Client): (readonly [string, string])[] => [
  ['client_id', client.clientId],
  ['name', client.name],
  ['grants', client.grants.join(', ')],
  ['account', client.accountId ?? 'any'],
  ['grace', `${client.graceSeconds} s`],
  ['status', client.status],
];

const shownOnce = 'The secret is shown this once and kept nowhere: store it now.';

interface CreateOptions {
  readonly name: string;
  readonly grant: GrantType[];
  readonly account?: string;
  readonly graceSeconds?: number;
  readonly introspect?: boolean;
}

const create = async (target: Target, options: CreateOptions): Promise<Report> => {
  const { client, clientSecret } = await (await openStore(target)).createClient({
    name: options.name,
    grants: [...new Set(options.grant)],
    ...(options.account === undefined ? {} : { accountId: options.account }),
    ...(options.graceSeconds === undefined ? {} : { graceSeconds: options.graceSeconds }),
    ...(options.introspect === undefined ? {} : { introspect: options.introspect }),
  });
  return {
    json: { ...view(client), clientSecret },
    text: `${fields([...describe(client), ['client_secret', clientSecret]])}\n\n${shownOnce}`,
  };
};

const list = async (target: Target): Promise<Report> => {
  const clients = await (await openStore(target)).listClients();
  const columns = [
    { heading: 'CLIENT ID', cell: (client: Client) => client.clientId },
    { heading: 'NAME', cell: (client: Client) => client.name },
    { heading: 'GRANTS', cell: (client: Client) => client.grants.join(', ') },
    { heading: 'ACCOUNT', cell: (client: Client) => client.accountId ?? 'any' },
    { heading: 'GRACE', cell: (client: Client) => `${client.graceSeconds} s` },
    { heading: 'STATUS', cell: (client: Client) => client.status },
  ];
  const whenEmpty = 'No clients yet. Create one: npm run ops -- clients create --name "Acme ERP" --grant password';
  return { json: clients.map(view), text: table(clients, columns, whenEmpty) };
};

const noClient = (clientId: string) => new Fault(`there is no client "${clientId}": "clients list" shows them.`);

const setStatus = async (target: Target, clientId: string, status: Client['status']): Promise<Report> => {
  const client = await (await openStore(target)).setClientStatus(clientId, status);
  if (!client) throw noClient(clientId);
  return { json: view(client), text: `Client ${client.clientId} (${client.name}) is ${status}.` };
};

const rotateSecret = async (target: Target, clientId: string, overlapSeconds?: number): Promise<Report> => {
  const rotated = await (await openStore(target)).rotateClientSecret(clientId, overlapSeconds);
  if (!rotated) throw noClient(clientId);
  const { client, clientSecret } = rotated;
  const previous = iso(client.secrets[1]?.expiresAt) ?? 'none';
  const lines = fields([
    ['client_id', client.clientId],
    ['client_secret', clientSecret],
    ['previous secret works until', previous],
  ]);
  return { json: { ...view(client), clientSecret }, text: `${lines}\n\n${shownOnce}` };
};

const collect = (value: GrantType, before: GrantType[] | undefined): GrantType[] => [...(before ?? []), value];

const grantOption = () => {
  const option = new Option('--grant <type>', 'a grant it may use (repeatable)').choices(grantTypes);
  const parse = option.parseArg;
  return option
    .argParser((value: string, before: GrantType[] | undefined) => {
      parse?.(value, undefined); // refuses anything but the choices
      return collect(value as GrantType, before);
    })
    .makeOptionMandatory();
};

const examples = `
Examples:
  npm run ops -- clients create --name "Acme ERP" --grant password --grant refresh_token
  npm run ops -- clients create --name "Acme only" --grant password --account acme --grace-seconds 0
  npm run ops -- --stage prod clients rotate-secret 4f6Kq... --overlap-seconds 3600`;

/** Adds `clients`. */
export const addClients = (program: Command, run: Run): void => {
  const clients = program
    .command('clients')
    .description('clients of the token endpoint: create, list, enable, disable, rotate-secret')
    .addHelpText('after', examples);

  clients
    .command('create')
    .description('create a client; its secret is shown once')
    .requiredOption('--name <name>', 'what people call it', displayName)
    .addOption(grantOption())
    .option('--account <id>', 'log in users of this account only', accountId)
    .option(
      '--grace-seconds <s>',
      'how long a used refresh token still gives its successor (default 30, 0 is strict)',
      wholeNumber(0, 3_600),
    )
    .option('--introspect', "let it introspect other clients' tokens")
    .addHelpText('after', examples)
    .action((options: CreateOptions, command: Command) => run(command, target => create(target, options)));

  clients
    .command('list')
    .description('list all clients')
    .action((_options: object, command: Command) => run(command, list));

  for (const [name, status] of [
    ['enable', 'enabled'],
    ['disable', 'disabled'],
  ] as const) {
    clients
      .command(name)
      .description(
        status === 'enabled' ? 'let a disabled client in again' : 'shut a client out, tokens already issued too',
      )
      .argument('<client-id>', 'as create and list show it', notEmpty)
      .action((clientId: string, _options: object, command: Command) =>
        run(command, target => setStatus(target, clientId, status)),
      );
  }

  clients
    .command('rotate-secret')
    .description('give a client a new secret, shown once; the one used so far works on for a while')
    .argument('<client-id>', 'as create and list show it', notEmpty)
    .option(
      '--overlap-seconds <s>',
      'how long the one used so far works on (default 86400)',
      wholeNumber(0, 31_536_000),
    )
    .action((clientId: string, options: { overlapSeconds?: number }, command: Command) =>
      run(command, target => rotateSecret(target, clientId, options.overlapSeconds)),
    );
};
