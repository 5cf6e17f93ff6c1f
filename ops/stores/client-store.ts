import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import {
  type Client,
  clientKey,
  type GrantType,
  hashClientSecret,
  isLiveSecret,
  parseClient,
} from '../../lambdas/auth/principals/client.ts';
import { scopes as allScopes, type Scope } from '../../lambdas/auth/principals/scope.ts';
import { isPossibleKey, type StoreParts } from '../../lambdas/platform/aws/dynamo.ts';
import { type Expression, expression, updateItem } from '../../lambdas/platform/aws/update-item.ts';
import type { MakeId } from '../../lambdas/platform/identifiers.ts';
import { type PageRequest, scanTable } from './scan.ts';

export interface NewClient {
  readonly name: string;
  readonly grants: readonly GrantType[];
  /** The scopes that tokens of the client may have. By default, all scopes. */
  readonly scopes?: readonly Scope[];
  /** Binds the client to one account. */
  readonly accountId?: string;
  /** The time for which a used refresh token still returns its successor. By default, 30 s. */
  readonly graceSeconds?: number;
  /** True if the client may introspect tokens of other clients. By default, false. */
  readonly introspect?: boolean;
  /** The lifetime of the secret. By default, unlimited. */
  readonly secretSeconds?: number;
}

/** The properties of a client that an operator may change. Omitted properties stay unchanged. */
export interface ClientChanges extends Partial<Omit<NewClient, 'accountId' | 'secretSeconds'>> {
  /** The new account, or `null` for any account. A change ends the client's sessions. */
  readonly accountId?: string | null;
}

export interface SecretRotation {
  /** The time for which the current secret stays valid, by default one day. 0 revokes all other secrets immediately. */
  readonly overlapSeconds?: number;
  /** True to revoke the older of two valid secrets. */
  readonly dropOldest?: boolean;
  /** True to revoke the newer of two valid secrets, because its value was lost. The older one is then the current secret. */
  readonly dropNewest?: boolean;
}

export const defaultOverlapSeconds = 86_400;

/**
 * Creates the store for the `Clients` table, with partition key `clientId` and one item per client. Operations on a client
 * that does not exist return `undefined`.
 */
export function makeClientStore({ dynamo, table, now, makeId }: StoreParts & { readonly makeId: MakeId }) {
  return {
    createClient,
    findClient,
    listClients,
    setClientStatus,
    updateClient,
    endClientSessions,
    deleteClient,
    rotateClientSecret,
  };

  async function createClient(description: NewClient): Promise<ClientWithSecret> {
    const { name, grants, scopes = allScopes, accountId, introspect = false, secretSeconds } = description;
    const time = now();
    const clientSecret = makeId(secretLength);
    const expiry = secretSeconds === undefined ? {} : { expiresAt: time + secretSeconds * 1_000 };
    const client: Client = {
      clientId: makeId(22),
      name,
      secrets: [{ hash: hashClientSecret(clientSecret), createdAt: time, ...expiry }],
      grants: [...grants],
      scopes: [...scopes],
      ...(accountId === undefined ? {} : { accountId }),
      graceSeconds: description.graceSeconds ?? defaultGraceSeconds,
      introspect,
      status: 'enabled',
      version: 1,
      createdAt: time,
      updatedAt: time,
    };
    await dynamo(new PutCommand({ TableName: table, Item: client })); // unconditional, because the id is random
    return { client, clientSecret };
  }

  async function findClient(clientId: string): Promise<Client | undefined> {
    if (!isPossibleKey({ clientId })) return undefined;
    const { Item } = await dynamo(new GetCommand({ TableName: table, Key: { clientId }, ConsistentRead: true }));
    return parseClient(Item);
  }

  /** Lists all clients, or the clients bound to an account, sorted by name. Pages are in table order. */
  async function listClients({ account, ...page }: ClientPageRequest = {}): Promise<Client[]> {
    const where = account === undefined ? undefined : { accountId: account };
    const clients = await scanTable(dynamo, { table, partitionKey: 'clientId', parse: parseClient, where, ...page });
    if (page.limit !== undefined || page.after !== undefined) return clients;
    return clients.sort((one, other) => one.name.localeCompare(other.name));
  }

  /** Enables or disables a client, optionally only if it is bound to an account. Disabling a client ends its sessions. */
  function setClientStatus(
    clientId: string,
    status: Client['status'],
    accountId?: string,
  ): Promise<Client | undefined> {
    const ofAccount = accountId === undefined ? undefined : expression`accountId = ${accountId}`;
    return update(clientId, { status, ...(status === 'disabled' && endedSessions) }, ofAccount);
  }

  /** Changes a client. @throws {ClientConflictError} if another command changed the client at the same time. */
  async function updateClient(
    clientId: string,
    { accountId, scopes, grants, ...others }: ClientChanges,
  ): Promise<Client | undefined> {
    const client = await findClient(clientId);
    if (!client) return undefined;
    const isRebound = accountId !== undefined && (accountId ?? undefined) !== client.accountId;
    const changes = {
      ...others,
      ...(grants && { grants: [...grants] }),
      ...(scopes && { scopes: [...scopes] }),
      ...(isRebound && { accountId: accountId ?? undefined, ...endedSessions }),
    };
    const changed = await update(clientId, changes, expression`updatedAt = ${client.updatedAt}`);
    if (!changed) throw new ClientConflictError();
    return changed;
  }

  function endClientSessions(clientId: string): Promise<Client | undefined> {
    return update(clientId, endedSessions);
  }

  /** Deletes a client. Returns its last state. */
  async function deleteClient(clientId: string): Promise<Client | undefined> {
    if (!isPossibleKey({ clientId })) return undefined;
    const command = new DeleteCommand({ TableName: table, Key: { clientId }, ReturnValues: 'ALL_OLD' });
    return parseClient((await dynamo(command)).Attributes);
  }

  /**
   * Adds a secret. The current secret stays valid for the overlap.
   * @throws {TwoSecretsError} if two secrets are already valid, and the caller revokes neither.
   * @throws {OneSecretError} if the caller revokes the newer of two secrets, but only one is valid.
   * @throws {ClientConflictError} if another command changed the client at the same time.
   */
  async function rotateClientSecret(
    clientId: string,
    { overlapSeconds = defaultOverlapSeconds, dropOldest = false, dropNewest = false }: SecretRotation = {},
  ): Promise<ClientWithSecret | undefined> {
    const client = await findClient(clientId);
    if (!client) return undefined;
    const time = now();
    const live = client.secrets.filter(secret => isLiveSecret(secret, time));
    if (live.length > 1 && overlapSeconds > 0 && !dropOldest && !dropNewest) throw new TwoSecretsError();
    if (live.length < 2 && dropNewest) throw new OneSecretError();
    const clientSecret = makeId(secretLength);
    const outgoing = live
      .slice(dropNewest ? 1 : 0)
      .slice(0, overlapSeconds > 0 ? 1 : 0)
      .map(secret => ({ ...secret, expiresAt: time + overlapSeconds * 1_000 }));
    const secrets = [{ hash: hashClientSecret(clientSecret), createdAt: time }, ...outgoing];
    const rotated = await update(clientId, { secrets }, expression`secrets[0].hash = ${client.secrets[0]?.hash}`);
    if (!rotated) throw new ClientConflictError();
    return { client: rotated, clientSecret };
  }

  /** Returns the client after the update, or `undefined` if it does not exist or does not meet the condition. */
  async function update(clientId: string, changes: Changes, condition?: Expression): Promise<Client | undefined> {
    if (!isPossibleKey({ clientId })) return undefined;
    const exists = expression`attribute_exists(clientId)`;
    const updated = await updateItem(dynamo, clientKey(table, clientId), {
      set: { ...changes, updatedAt: now() },
      when: condition ? expression`${exists} AND ${condition}` : exists,
      returns: 'ALL_NEW',
    });
    return parseClient(updated);
  }
}

interface ClientPageRequest extends PageRequest {
  /** Lists only clients bound to this account, which reads the whole table. */
  readonly account?: string;
}

/** New attribute values. `undefined` removes an attribute. */
type Changes = { readonly [Name in keyof Client]?: Client[Name] | Expression | undefined };

/** The change that ends all sessions of the client. */
const endedSessions: Changes = { version: expression`version + ${1}` };

/** A client with its new secret, which is shown once. Only the hash of the secret is stored. */
interface ClientWithSecret {
  readonly client: Client;
  readonly clientSecret: string;
}

/** The number of characters in a 256-bit secret. */
const secretLength = 43;

const defaultGraceSeconds = 30;

/** Thrown if two commands change a client at the same time, because the second change would silently undo the first. */
class ClientConflictError extends Error {
  override readonly name = 'ClientConflictError';
  constructor() {
    super('Another command changed the client at the same time. Check the client, then try again.');
  }
}

/** Thrown if two secrets are valid, because a third secret would silently replace one that may be in use. */
class TwoSecretsError extends Error {
  override readonly name = 'TwoSecretsError';
  constructor() {
    super('This client already has two valid secrets.');
  }
}

/** Thrown if the caller revokes the newer of two secrets, but only one secret is valid. */
class OneSecretError extends Error {
  override readonly name = 'OneSecretError';
  constructor() {
    super('This client has only one valid secret.');
  }
}
