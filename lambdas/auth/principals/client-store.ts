import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../../platform/clock.ts';
import { conditionalWrite, type Item, isPossibleKey } from '../../platform/dynamo.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import { type Client, type GrantType, hashClientSecret, isLiveSecret, parseClient } from './client.ts';
import { scopes as allScopes, type Scope } from './scope.ts';
import type { PageRequest } from './user-store.ts';

/** A new client as an operator describes it. */
export interface NewClient {
  readonly name: string;
  readonly grants: readonly GrantType[];
  /** The most that its tokens may be allowed; default everything. */
  readonly scopes?: readonly Scope[];
  /** Binds the client to one account. */
  readonly accountId?: string;
  /** Default 30. */
  readonly graceSeconds?: number;
  /** Whether it may introspect tokens of other clients; default no. */
  readonly introspect?: boolean;
}

/** What an operator may change of a client; what is absent stays. */
export interface ClientChanges extends Partial<Omit<NewClient, 'accountId'>> {
  /** `null` unbinds the client. A change ends the client's sessions. */
  readonly accountId?: string | null;
}

/** How a secret is replaced. */
export interface SecretRotation {
  /** How long the newest one so far works on; default a day. With 0 every other secret ends now. */
  readonly overlapSeconds?: number;
  /** Ends the older one of two that work. */
  readonly dropOldest?: boolean;
}

/** What an operator does to clients; the functions only read them. */
export interface ClientStore {
  createClient(description: NewClient): Promise<ClientWithSecret>;
  findClient(clientId: string): Promise<Client | undefined>;
  /** All clients by name; of a page, as the table has them. */
  listClients(page?: PageRequest): Promise<Client[]>;
  /** `undefined` when there is no such client; the same below. Disabling ends every session of the client, for good. */
  setClientStatus(clientId: string, status: Client['status']): Promise<Client | undefined>;
  /** @throws {ClientConflictError} */
  updateClient(clientId: string, changes: ClientChanges): Promise<Client | undefined>;
  endClientSessions(clientId: string): Promise<Client | undefined>;
  /** The client that is gone now. */
  deleteClient(clientId: string): Promise<Client | undefined>;
  /**
   * Adds a new secret beside the newest one so far.
   *
   * @throws {TwoSecretsError} where two work already, and neither is to be ended.
   * @throws {ClientConflictError}
   */
  rotateClientSecret(clientId: string, rotation?: SecretRotation): Promise<ClientWithSecret | undefined>;
}

/** What a client store needs. */
export interface ClientStoreDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly now: Clock;
  readonly makeId: MakeId;
}

/** Makes the store of table `Clients`: partition `clientId`, one item per client. */
export function makeClientStore({ dynamo, tableName, now, makeId }: ClientStoreDependencies): ClientStore {
  const findClient = async (clientId: string): Promise<Client | undefined> => {
    if (!isPossibleKey({ clientId })) return undefined;
    const answer = await dynamo.send(new GetCommand({ TableName: tableName, Key: { clientId }, ConsistentRead: true }));
    return parseClient(answer.Item);
  };

  /** The client as it is now; `undefined` when there is none, or the condition does not hold. */
  const update = async (clientId: string, wanted: Update): Promise<Client | undefined> => {
    if (!isPossibleKey({ clientId })) return undefined;
    const { changes, removed = [], endsSessions = false, condition, values } = wanted;
    const assigned = Object.entries({ ...changes, updatedAt: now() });
    const sets = assigned.map(([name]) => `#${name} = :${name}`);
    if (endsSessions) sets.push('#version = if_not_exists(#version, :one) + :one');
    const removal = removed.length === 0 ? '' : ` REMOVE ${removed.map(name => `#${name}`).join(', ')}`;
    const names = [...assigned.map(([name]) => name), ...removed, ...(endsSessions ? ['version'] : [])];
    const command = new UpdateCommand({
      TableName: tableName,
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
  };

  return {
    createClient: async description => {
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
        new PutCommand({ TableName: tableName, Item: client, ConditionExpression: 'attribute_not_exists(clientId)' }),
      );
      return { client, clientSecret };
    },

    findClient,

    listClients: async ({ limit, after } = {}) => {
      const clients: Client[] = [];
      let from: Item | undefined = after === undefined ? undefined : { clientId: after };
      do {
        const page = await dynamo.send(
          new ScanCommand({ TableName: tableName, ConsistentRead: true, ExclusiveStartKey: from, Limit: limit }),
        );
        for (const item of page.Items ?? [])
          clients.push(...[parseClient(item)].filter(client => client !== undefined));
        from = page.LastEvaluatedKey;
      } while (from && (limit === undefined || clients.length < limit));
      if (limit !== undefined || after !== undefined) return clients.slice(0, limit);
      return clients.sort((one, other) => one.name.localeCompare(other.name));
    },

    setClientStatus: (clientId, status) =>
      update(clientId, { changes: { status }, endsSessions: status === 'disabled' }),

    updateClient: async (clientId, { accountId, scopes, grants, ...others }) => {
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
    },

    endClientSessions: clientId => update(clientId, { changes: {}, endsSessions: true }),

    deleteClient: async clientId => {
      if (!isPossibleKey({ clientId })) return undefined;
      const command = new DeleteCommand({ TableName: tableName, Key: { clientId }, ReturnValues: 'ALL_OLD' });
      return parseClient((await dynamo.send(command)).Attributes);
    },

    rotateClientSecret: async (clientId, { overlapSeconds = defaultOverlapSeconds, dropOldest = false } = {}) => {
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
    },
  };
}

/** A client together with a secret that is shown this once: only its hash is kept. */
interface ClientWithSecret {
  readonly client: Client;
  readonly clientSecret: string;
}

interface Update {
  readonly changes: Partial<Client>;
  /** Attributes to take away. */
  readonly removed?: readonly string[];
  readonly endsSessions?: boolean;
  readonly condition?: string;
  readonly names?: Record<string, string>;
  readonly values?: Item;
}

const secretLength = 43;
// 256 bits
const defaultGraceSeconds = 30;

/** Thrown when two changes of one client meet: the second would silently undo the first. */
class ClientConflictError extends Error {
  override readonly name = 'ClientConflictError';
  constructor() {
    super('The client was changed by somebody else at the same moment: look at the client, then try again.');
  }
}

const defaultOverlapSeconds = 86_400;

/** Thrown when two secrets work: a third would silently end one that somebody uses. */
class TwoSecretsError extends Error {
  override readonly name = 'TwoSecretsError';
  constructor() {
    super('Two secrets of this client work already.');
  }
}
