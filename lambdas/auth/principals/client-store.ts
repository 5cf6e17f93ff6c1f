import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../../platform/clock.ts';
import { conditionalWrite, type Item, isPossibleKey } from '../../platform/dynamo.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import { type Client, type GrantType, hashClientSecret, isLiveSecret, parseClient } from './client.ts';
import { type PageRequest, scanTable } from './scan.ts';
import { scopes as allScopes, type Scope } from './scope.ts';

/** A new client as an operator describes it. */
export interface NewClient {
  readonly name: string;
  readonly grants: readonly GrantType[];
  /** The scopes that its tokens may have at most; default all. */
  readonly scopes?: readonly Scope[];
  /** Binds the client to one account. */
  readonly accountId?: string;
  /** Default 30. */
  readonly graceSeconds?: number;
  /** Whether it may introspect tokens of other clients; default no. */
  readonly introspect?: boolean;
}

/** What an operator may change of a client; absent properties stay as they are. */
export interface ClientChanges extends Partial<Omit<NewClient, 'accountId'>> {
  /** `null` unbinds the client. A change ends the client's sessions. */
  readonly accountId?: string | null;
}

/** How a secret is replaced. */
export interface SecretRotation {
  /** How long the newest secret so far stays valid; default a day. With 0 every other secret ends now. */
  readonly overlapSeconds?: number;
  /** Ends the older one of two valid secrets. */
  readonly dropOldest?: boolean;
}

/** The operations on clients; all but reading are for operators. */
export interface ClientStore {
  createClient(description: NewClient): Promise<ClientWithSecret>;
  findClient(clientId: string): Promise<Client | undefined>;
  /** All clients by name; a page in the order of the table. */
  listClients(page?: PageRequest): Promise<Client[]>;
  /** `undefined` when there is no such client; the same below. Disabling ends every session of the client, for good. */
  setClientStatus(clientId: string, status: Client['status']): Promise<Client | undefined>;
  /** @throws {ClientConflictError} */
  updateClient(clientId: string, changes: ClientChanges): Promise<Client | undefined>;
  endClientSessions(clientId: string): Promise<Client | undefined>;
  /** The client as it was. */
  deleteClient(clientId: string): Promise<Client | undefined>;
  /**
   * Adds a new secret beside the newest one so far.
   *
   * @throws {TwoSecretsError} when two are valid already, and neither is to be ended.
   * @throws {ClientConflictError}
   */
  rotateClientSecret(clientId: string, rotation?: SecretRotation): Promise<ClientWithSecret | undefined>;
}

/** Makes the store of table `Clients`: partition `clientId`, one item per client. */
export function makeClientStore({
  dynamo,
  table,
  now,
  makeId,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  readonly now: Clock;
  readonly makeId: MakeId;
}): ClientStore {
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
    const { name, grants, scopes = allScopes, accountId, introspect = false } = description;
    const moment = now();
    const clientSecret = makeId(secretLength);
    const client: Client = {
      clientId: makeId(22),
      name,
      secrets: [{ hash: hashClientSecret(clientSecret), createdAt: moment }],
      grants: [...grants],
      scopes: [...scopes],
      ...(accountId === undefined ? {} : { accountId }),
      graceSeconds: description.graceSeconds ?? defaultGraceSeconds,
      introspect,
      status: 'enabled',
      version: 1,
      createdAt: moment,
      updatedAt: moment,
    };
    await dynamo.send(
      new PutCommand({ TableName: table, Item: client, ConditionExpression: 'attribute_not_exists(clientId)' }),
    );
    return { client, clientSecret };
  }

  async function findClient(clientId: string): Promise<Client | undefined> {
    if (!isPossibleKey({ clientId })) return undefined;
    const answer = await dynamo.send(new GetCommand({ TableName: table, Key: { clientId }, ConsistentRead: true }));
    return parseClient(answer.Item);
  }

  async function listClients(page: PageRequest = {}): Promise<Client[]> {
    const clients = await scanTable(dynamo, { table, partitionKey: 'clientId', parse: parseClient, ...page });
    if (page.limit !== undefined || page.after !== undefined) return clients;
    return clients.sort((one, other) => one.name.localeCompare(other.name));
  }

  function setClientStatus(clientId: string, status: Client['status']): Promise<Client | undefined> {
    return update(clientId, { changes: { status }, endsSessions: status === 'disabled' });
  }

  async function updateClient(
    clientId: string,
    { accountId, scopes, grants, ...others }: ClientChanges,
  ): Promise<Client | undefined> {
    const client = await findClient(clientId);
    if (!client) return undefined;
    const isRebound = accountId !== undefined && (accountId ?? undefined) !== client.accountId;
    const changed = await update(clientId, {
      changes: {
        ...others,
        ...(grants ? { grants: [...grants] } : {}),
        ...(scopes ? { scopes: [...scopes] } : {}),
        ...(isRebound && accountId !== null ? { accountId } : {}),
      },
      removed: isRebound && accountId === null ? ['accountId'] : [],
      endsSessions: isRebound,
      condition: 'updatedAt = :seen',
      values: { ':seen': client.updatedAt },
    });
    if (!changed) throw new ClientConflictError();
    return changed;
  }

  function endClientSessions(clientId: string): Promise<Client | undefined> {
    return update(clientId, { changes: {}, endsSessions: true });
  }

  async function deleteClient(clientId: string): Promise<Client | undefined> {
    if (!isPossibleKey({ clientId })) return undefined;
    const command = new DeleteCommand({ TableName: table, Key: { clientId }, ReturnValues: 'ALL_OLD' });
    return parseClient((await dynamo.send(command)).Attributes);
  }

  async function rotateClientSecret(
    clientId: string,
    { overlapSeconds = defaultOverlapSeconds, dropOldest = false }: SecretRotation = {},
  ): Promise<ClientWithSecret | undefined> {
    const client = await findClient(clientId);
    if (!client) return undefined;
    const moment = now();
    const live = client.secrets.filter(secret => isLiveSecret(secret, moment));
    if (live.length > 1 && overlapSeconds > 0 && !dropOldest) throw new TwoSecretsError();
    const clientSecret = makeId(secretLength);
    const overlapEnd = moment + overlapSeconds * 1_000;
    const outgoing = live
      .slice(0, overlapSeconds > 0 ? 1 : 0)
      .map(secret => ({ ...secret, expiresAt: Math.min(secret.expiresAt ?? overlapEnd, overlapEnd) }));
    const rotated = await update(clientId, {
      changes: { secrets: [{ hash: hashClientSecret(clientSecret), createdAt: moment }, ...outgoing] },
      condition: '#secrets[0].#hash = :newest',
      names: { '#hash': 'hash' },
      values: { ':newest': client.secrets[0]?.hash },
    });
    if (!rotated) throw new ClientConflictError();
    return { client: rotated, clientSecret };
  }

  /** The client as it is after the update; `undefined` when there is none, or the condition does not hold. */
  async function update(clientId: string, wanted: Update): Promise<Client | undefined> {
    if (!isPossibleKey({ clientId })) return undefined;
    const { changes, removed = [], endsSessions = false, condition, values } = wanted;
    const assigned = Object.entries({ ...changes, updatedAt: now() });
    const sets = assigned.map(([name]) => `#${name} = :${name}`);
    if (endsSessions) sets.push('#version = if_not_exists(#version, :one) + :one');
    const removal = removed.length === 0 ? '' : ` REMOVE ${removed.map(name => `#${name}`).join(', ')}`;
    const names = [...assigned.map(([name]) => name), ...removed, ...(endsSessions ? ['version'] : [])];
    const command = new UpdateCommand({
      TableName: table,
      Key: { clientId },
      ConditionExpression: ['attribute_exists(clientId)', condition].filter(Boolean).join(' AND '),
      UpdateExpression: `SET ${sets.join(', ')}${removal}`,
      ExpressionAttributeNames: {
        ...Object.fromEntries(names.map(name => [`#${name}`, name])),
        ...wanted.names,
      },
      ExpressionAttributeValues: {
        ...Object.fromEntries(assigned.map(([name, value]) => [`:${name}`, value])),
        ...(endsSessions ? { ':one': 1 } : {}),
        ...values,
      },
      ReturnValues: 'ALL_NEW',
    });
    return parseClient((await conditionalWrite(dynamo.send(command)))?.Attributes);
  }
}

/** A client with a secret that is shown this once: only its hash is stored. */
interface ClientWithSecret {
  readonly client: Client;
  readonly clientSecret: string;
}

/** 256 bits. */
const secretLength = 43;

const defaultGraceSeconds = 30;

/** Thrown when two changes of one client meet: the second would silently undo the first. */
class ClientConflictError extends Error {
  override readonly name = 'ClientConflictError';
  constructor() {
    super('The client was changed by somebody else at the same moment: look at the client, then try again.');
  }
}

const defaultOverlapSeconds = 86_400;

/** Thrown when two secrets are valid: a third would silently end one that is in use. */
class TwoSecretsError extends Error {
  override readonly name = 'TwoSecretsError';
  constructor() {
    super('Two secrets of this client work already.');
  }
}

interface Update {
  readonly changes: Partial<Client>;
  /** Attributes to remove. */
  readonly removed?: readonly string[];
  readonly endsSessions?: boolean;
  readonly condition?: string;
  readonly names?: Record<string, string>;
  readonly values?: Item;
}
