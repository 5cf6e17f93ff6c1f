import type { Client } from '../../lambdas/auth/principals/client.ts';
import { fields, iso, type Report, table } from './report.ts';

/** One client, with its secret where that has just been made. */
export function reportClient(client: Client, clientSecret?: string): Report {
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

/** Many clients, one a line. */
export function reportClients(clients: readonly Client[]): Report {
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

/** What is shown of a client: everything but the hashes of its secrets. */
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
