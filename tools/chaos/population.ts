import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { makeUserStore } from '../../lambdas/auth/principals/user-store.ts';
import { systemClock } from '../../lambdas/platform/clock.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import type { LocalOutputs } from '../support/local-run.ts';
import type { Kind } from './kinds.ts';

/** One account's place for one event: a webhook, or the lack of one. */
export interface Registration {
  readonly account: string;
  readonly eventName: EventName;
  readonly kind: Kind;
  /** Name of its receiver. */
  readonly host: string;
  readonly secret: string;
  readonly authorization: string;
  /** Deletes the webhook. */
  remove(): Promise<void>;
  /** Replaces its URL by another one of the same receiver. */
  replace(): Promise<void>;
}

/** A client of a run's DynamoDB stand-in, for everything that has no other way in. */
export function documentsOf({ Region, DynamoDbEndpoint }: LocalOutputs): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(
    new DynamoDBClient({
      region: Region,
      endpoint: DynamoDbEndpoint,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    }),
    { marshallOptions: { removeUndefinedValues: true } },
  );
}

/** What each account is to have: a kind of receiver for each of its first events. */
export interface AccountPlan {
  readonly account: string;
  readonly kinds: readonly Kind[];
}

/** The name that a receiver is given. */
export function hostOf(account: string, place: number): string {
  return `r${place}-${account}.example.com`;
}

/** Makes the accounts and registers their webhooks over the API, as their admins would. */
export async function settle(
  outputs: LocalOutputs,
  plans: readonly AccountPlan[],
  pathOf: (kind: Kind) => string,
): Promise<readonly Registration[]> {
  const registrations: Registration[] = [];
  for (const { account, kinds } of plans) {
    const call = await openAccount(outputs, account);
    const made = kinds.map(async (kind, place): Promise<Registration> => {
      const eventName = EVENT_NAMES[place];
      if (eventName === undefined) throw new Error('An account has no more events than there are.');
      const host = hostOf(account, place);
      const authorization = `Bearer ${randomId(30)}`;
      const remove = async () => void (await call('DELETE', `/v1/webhooks/${eventName}`, 204));
      let replacements = 0;
      const replace = async () => {
        replacements += 1;
        const url = `https://${host}${pathOf(kind)}?${replacements}`;
        await call('PUT', `/v1/webhooks/${eventName}`, 200, { url, autorizacao: authorization });
      };
      const common = { account, eventName, kind, host, authorization, remove, replace };
      if (kind.isUnregistered) return { ...common, secret: '' };
      const input = { evento: eventName, url: `https://${host}${pathOf(kind)}`, autorizacao: authorization };
      const { segredo } = await call('POST', '/v1/webhooks', 201, input);
      return { ...common, secret: String(segredo) };
    });
    registrations.push(...(await Promise.all(made)));
  }
  return registrations;
}

/** Makes an account with an admin and gives what calls {base_url} in its name. */
async function openAccount(outputs: LocalOutputs, accountId: string) {
  const dynamo = documentsOf(outputs);
  const tables = { users: outputs.UsersTable, credentials: outputs.CredentialsTable };
  const users = makeUserStore({ dynamo, tables, now: systemClock, makeId: randomId });
  const [email, password] = [`${accountId}@chaos.example.com`, randomId(22)];
  await users.createUser({ email, password, accountId, role: 'admin' });
  dynamo.destroy();
  const token = await logIn(outputs, email, password);
  return async (method: string, path: string, expected: number, body?: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(`${outputs.BaseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== expected) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  };
}

async function logIn({ AuthUrl, Demo }: LocalOutputs, username: string, password: string): Promise<string> {
  const form = { grant_type: 'password', client_id: Demo.ClientId, client_secret: Demo.ClientSecret };
  const body = new URLSearchParams({ ...form, username, password });
  const response = await fetch(`${AuthUrl}/oauth/v1/token`, { method: 'POST', body });
  if (!response.ok) throw new Error(`The token endpoint answered ${response.status}.`);
  return ((await response.json()) as { access_token: string }).access_token;
}
