import { type DynamoDBDocumentClient, GetCommand, PutCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../platform/clock.ts';
import { type Item, isConditionFailed } from '../platform/dynamodb.ts';
import type { MakeId } from '../platform/identifiers.ts';
import { type Client, type GrantType, hashClientSecret, isLiveSecret, parseClient } from './client.ts';

/** A new client as an operator describes it. */
export interface NewClient {
  readonly name: string;
  readonly grants: readonly GrantType[];
  /** Binds the client to one account. */
  readonly accountId?: string;
  /** Default 30. */
  readonly graceSeconds?: number;
  /** Whether it may introspect tokens of other clients; default no. */
  readonly introspect?: boolean;
}

/** A client together with a secret that is shown this once: only its hash is kept. */
interface ClientWithSecret {
  readonly client: Client;
  readonly clientSecret: string;
}

/** What an operator does to clients; the functions only read them. */
export interface ClientStore {
  createClient(description: NewClient): Promise<ClientWithSecret>;
  findClient(clientId: string): Promise<Client | undefined>;
  /** All clients, by name. */
  listClients(): Promise<Client[]>;
  /** `undefined` when there is no such client. Holds at once, for tokens already issued too. */
  setClientStatus(clientId: string, status: Client['status']): Promise<Client | undefined>;
  /**
   * Adds a new secret; the one used so far works for `overlapSeconds` more (default a day), an older one ends now.
   * `undefined` when there is no such client.
   *
   * @throws {SecretRotationConflictError}
   */
  rotateClientSecret(clientId: string, overlapSeconds?: number): Promise<ClientWithSecret | undefined>;
}

/** Thrown when two rotations of one client meet: the second would silently end the secret the first has just given out. */
class SecretRotationConflictError extends Error {
  override readonly name = 'SecretRotationConflictError';
  constructor() {
    super(
      'The secret of this client was rotated by somebody else at the same moment: look at the client, then try again.',
    );
  }
}

interface Condition {
  readonly expression: string;
  readonly names?: Record<string, string>;
  readonly values?: Item;
}

/** What a client store stands on. */
export interface ClientStoreDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly now: Clock;
  readonly makeId: MakeId;
}

const secretLength = 43; // 256 bits
const defaultGraceSeconds = 30;
const defaultOverlapSeconds = 86_400;

/** Makes the store of table `Clients`: partition `clientId`, one item per client. */
export const makeClientStore = ({ documents, tableName, now, makeId }: ClientStoreDependencies): ClientStore => {
  const findClient = async (clientId: string): Promise<Client | undefined> => {
    const answer = await documents.send(
      new GetCommand({ TableName: tableName, Key: { clientId }, ConsistentRead: true }),
    );
    return parseClient(answer.Item);
  };

  const update = async (
    clientId: string,
    changes: Pick<Client, 'updatedAt'> & Partial<Client>,
    condition: Condition = { expression: 'attribute_exists(clientId)' },
  ): Promise<Client | undefined> => {
    const assigned = Object.entries(changes);
    try {
      const answer = await documents.send(
        new UpdateCommand({
          TableName: tableName,
          Key: { clientId },
          ConditionExpression: condition.expression,
          UpdateExpression: `SET ${assigned.map(([name]) => `#${name} = :${name}`).join(', ')}`,
          ExpressionAttributeNames: {
            ...Object.fromEntries(assigned.map(([name]) => [`#${name}`, name])),
            ...condition.names,
          },
          ExpressionAttributeValues: {
            ...Object.fromEntries(assigned.map(([name, value]) => [`:${name}`, value])),
            ...condition.values,
          },
          ReturnValues: 'ALL_NEW',
        }),
      );
      return parseClient(answer.Attributes);
    } catch (error) {
      if (isConditionFailed(error)) return undefined;
      throw error;
    }
  };

  return {
    createClient: async ({ name, grants, accountId, graceSeconds = defaultGraceSeconds, introspect = false }) => {
      const moment = now();
      const clientSecret = makeId(secretLength);
      const client: Client = {
        clientId: makeId(22),
        name,
        secrets: [{ hash: hashClientSecret(clientSecret), createdAt: moment }],
        grants: [...grants],
        ...(accountId === undefined ? {} : { accountId }),
        graceSeconds,
        introspect,
        status: 'enabled',
        createdAt: moment,
        updatedAt: moment,
      };
      await documents.send(
        new PutCommand({ TableName: tableName, Item: client, ConditionExpression: 'attribute_not_exists(clientId)' }),
      );
      return { client, clientSecret };
    },

    findClient,

    listClients: async () => {
      const clients: Client[] = [];
      let from: Item | undefined;
      do {
        const page = await documents.send(
          new ScanCommand({ TableName: tableName, ConsistentRead: true, ExclusiveStartKey: from }),
        );
        for (const item of page.Items ?? [])
          clients.push(...[parseClient(item)].filter(client => client !== undefined));
        from = page.LastEvaluatedKey;
      } while (from);
      return clients.sort((one, other) => one.name.localeCompare(other.name));
    },

    setClientStatus: (clientId, status) => update(clientId, { status, updatedAt: now() }),

    rotateClientSecret: async (clientId, overlapSeconds = defaultOverlapSeconds) => {
      const client = await findClient(clientId);
      if (!client) return undefined;
      const moment = now();
      const clientSecret = makeId(secretLength);
      const overlapEnd = moment + overlapSeconds * 1_000;
      const outgoing = client.secrets
        .filter(secret => isLiveSecret(secret, moment))
        .slice(0, 1)
        .map(secret => ({ ...secret, expiresAt: Math.min(secret.expiresAt ?? overlapEnd, overlapEnd) }));
      const secrets = [{ hash: hashClientSecret(clientSecret), createdAt: moment }, ...outgoing];
      const rotated = await update(
        clientId,
        { secrets, updatedAt: moment },
        {
          expression: '#secrets[0].#hash = :newest',
          names: { '#hash': 'hash' },
          values: { ':newest': client.secrets[0]?.hash },
        },
      );
      if (!rotated) throw new SecretRotationConflictError();
      return { client: rotated, clientSecret };
    },
  };
};
