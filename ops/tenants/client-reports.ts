import type { Client } from '../../lambdas/auth/principals/client.ts';
import { iso, type Line, makeFormatter, type Report } from '../command-line/report.ts';
import type { Target } from '../stage/target.ts';

const client = makeFormatter<Client>([
  { json: 'clientId', heading: 'client_id', column: 'client id' },
  { json: 'name', heading: 'name' },
  { json: 'grants', heading: 'grants' },
  { json: 'scopes', heading: 'scopes', in: 'show' },
  { json: 'accountId', heading: 'account', text: ({ accountId = 'any' }) => accountId },
  { json: 'graceSeconds', heading: 'grace', text: ({ graceSeconds }) => `${graceSeconds} s` },
  {
    json: 'introspect',
    heading: 'introspects',
    in: 'show',
    text: ({ introspect }) => (introspect ? 'tokens of all clients' : 'its own tokens'),
  },
  { json: 'status', heading: 'status' },
  { json: 'secrets', value: ({ secrets }) => secrets.map(secretJson) }, // without their hashes
  { json: 'createdAt', value: ({ createdAt }) => iso(createdAt) },
  { json: 'updatedAt', value: ({ updatedAt }) => iso(updatedAt) },
]);

export const listReport = client.list(
  'No clients. To create one, run: npm run ops -- clients create --name "Acme ERP" --grant password --account acme',
);

export const changedReport = client.change(
  ({ clientId, name, status }) =>
    `Client ${clientId} (${name}) is ${status}.${status === 'disabled' ? ' Its sessions have ended. Enabling the client does not restore them.' : ''}`,
);

export function showReport(found: Client, _args: unknown, target: Target): Report {
  return { json: client.json(found), text: client.lines(found, secretsOf(found, target)) };
}

/** Reports a client with its new secret. Only the hash of the secret is stored. */
export function newSecretReport(
  { client: found, clientSecret }: { readonly client: Client; readonly clientSecret: string },
  _args: unknown,
  target: Target,
): Report {
  const text = client.lines(found, [...secretsOf(found, target), ['client_secret', clientSecret]]);
  return {
    json: { ...client.json(found), clientSecret },
    text: `${text}\n\nThe secret is shown only once. Store it now.`,
  };
}

export function deletedReport({ clientId, name }: Client): Report {
  return {
    json: { clientId, deleted: true },
    text: `Client ${clientId} (${name}) is deleted, and its sessions have ended.`,
  };
}

function secretsOf({ secrets }: Client, { clock }: Target): readonly Line[] {
  return secrets.map(({ createdAt, expiresAt }) => [
    `secret created ${iso(createdAt)}`,
    expiresAt === undefined ? 'valid until it is replaced' : validUntil(expiresAt, clock.now()),
  ]);
}

function secretJson({ createdAt, expiresAt }: Client['secrets'][number]) {
  return { createdAt: iso(createdAt), expiresAt: iso(expiresAt) };
}

function validUntil(time: number, now: number): string {
  return time <= now ? `expired at ${iso(time)}` : `valid until ${iso(time)}`;
}
