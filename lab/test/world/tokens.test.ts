import { BatchGetCommand, DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { composeIntrospect } from '../../../lambdas/auth/endpoints/introspect.composition.ts';
import { composeRevoke } from '../../../lambdas/auth/endpoints/revoke.composition.ts';
import { composeToken } from '../../../lambdas/auth/endpoints/token.composition.ts';
import type { Dynamo, Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { HttpRequest } from '../../../lambdas/platform/http.ts';
import { makeOperators } from '../../world/auth/operators.ts';
import { runTokenSeed } from '../../world/auth/run-token-seed.ts';
import type { TokenCompositions } from '../../world/auth/token-stage.ts';
import type { FaultClass } from '../../world/fault-classes.ts';
import { altering, readCarelessly } from './faulty-delivery.ts';

/** A faulty product, and the violations that its world must report. */
interface Faulty {
  readonly that: string;
  readonly altered: Partial<TokenCompositions>;
  readonly found: readonly RegExp[];
  /** @default calm */
  readonly faultClass?: FaultClass;
  /** @default 1 */
  readonly seed?: number;
}

/** Faults that the product had in the past. */
const former: readonly Faulty[] = [
  {
    that: 'does not delete the session of an unsuccessful login (T1)',
    faultClass: 'spells',
    altered: sending(command => {
      if (command instanceof DeleteCommand && command.input.ConditionExpression === undefined) aimElsewhere(command);
    }),
    found: [/^a login without tokens left a session/],
  },
  {
    that: 'restarts an expired failure count that another login already restarted (T3)',
    seed: 2,
    altered: sending(command => {
      if (!(command instanceof UpdateCommand) || nameIn(command, 'latestFailure') === undefined) return;
      if (!command.input.UpdateExpression?.includes('if_not_exists')) writeAnyway(command, 'pk');
    }),
    found: [/^a failure does not count as one/],
  },
];

const others: readonly Faulty[] = [
  {
    that: 'rotates tokens and records successes regardless of concurrent writes',
    altered: sending(command => {
      if (command instanceof DeleteCommand && command.input.TableName === 'Lockouts') writeAnyway(command, 'pk');
      if (!(command instanceof UpdateCommand) || nameIn(command, 'rotationId') === undefined) return;
      writeAnyway(command, 'userId');
      addOneTo(command, 'counter');
    }),
    found: [/^a refresh token has two successors/, /^a success was recorded during a lock/],
  },
  {
    that: 'never ends sessions or counts failures',
    altered: sending(command => {
      if (!(command instanceof UpdateCommand)) return;
      const isOfClient = String(command.input.Key?.pk).startsWith('client#');
      if (isOfClient || (nameIn(command, 'revokedFor') ?? nameIn(command, 'latestFailure'))) aimElsewhere(command);
    }),
    found: [
      /^session not ended after revocation/,
      /^session not ended after reuse/,
      /^a failure does not count$/,
      /^a rejected password does not count for its client/,
    ],
  },
  {
    that: 'ignores roles and ended sessions',
    seed: 3,
    altered: reading((table, item) => {
      if (table === 'Users' || table === 'Clients')
        Object.assign(item, { version: 1, status: 'enabled', role: 'admin' });
    }),
    found: [
      /^token refresh_token: granted instead of rejected/,
      /^introspect: granted instead of rejected/,
      /^a token has the scope "webhooks:read webhooks:manage" instead of ""/,
    ],
  },
  {
    that: 'treats each lock as expired',
    seed: 2,
    altered: reading((_, item) => {
      if (item.lastFailureAt !== undefined) item.lastFailureAt = Number(item.lastFailureAt) - 3_600_000;
    }),
    found: [/^token password: granted instead of rejected/],
  },
  {
    that: 'locks with the first failure',
    altered: reading((_, item) => {
      if (item.failures !== undefined) item.failures = Number(item.failures) + 4;
    }),
    found: [/^token password: rejected instead of granted/],
  },
  {
    that: 'ends sessions only after a role change, and grants more than requested',
    altered: {
      token: (...given) => changing(composeToken(...given), /&scope=[^&]*/, ''),
      revoke: (...given) => changing(composeRevoke(...given), /\btoken=ey[^&]*/, 'token=none'),
      operate: runtime => makeOperators({ ...runtime, dynamo: altering(runtime.dynamo, endOtherwise) }),
    },
    found: [
      /^token refresh_token: granted instead of rejected/,
      /^introspect: granted instead of rejected/,
      /^token refresh_token: rejected instead of granted/,
      /^session not ended after revocation/,
      /^a token has the scope "webhooks:read webhooks:manage" instead of "webhooks:read"/,
    ],
  },
  {
    that: 'does not delete the credential of a former address (A5)',
    altered: {
      operate: runtime => makeOperators({ ...runtime, dynamo: altering(runtime.dynamo, keepFormer) }),
    },
    found: [/^a user without a credential, or a credential without a user/],
  },
  {
    that: 'reads without consistency',
    altered: sending(readCarelessly),
    found: [/^a refresh token has two successors/, /^introspect: granted instead of rejected/],
  },
  {
    that: 'has wrong token times, metrics, reads, TTLs, hashes and limits, and returns 500',
    altered: {
      token: composeCareless,
      introspect: (...given) => {
        const introspect = composeIntrospect(...given);
        return async request => ({ ...(await introspect(request)), statusCode: 500 });
      },
    },
    found: [
      /^introspect: internal error/,
      /^the times of a token are wrong/,
      /^the metric TokenIssued is/,
      /^the TTL of a session is wrong/,
      /^login: BatchGet Users 2 times instead of 1/,
      /^a rejected password computed 2 hashes/,
      /^a login rejected by a lock computed a hash/,
      /^a login did not update the hash parameters/,
      /^status 400, but the client limit was always reached/,
    ],
  },
];

test.each([...former, ...others])(
  'The world detects a product that $that',
  async ({ faultClass = 'calm', seed = 1, altered, found }) => {
    const { violations } = await runTokenSeed(seed, faultClass, altered);
    for (const what of found) expect([what, violations.some(broken => what.test(broken.what))]).toEqual([what, true]);
  },
);

/** Returns a product that alters each DynamoDB command in place. */
function sending(alter: (command: { readonly input: object }) => void): Partial<TokenCompositions> {
  return calling(dynamo => altering(dynamo, alter));
}

/** Returns a product that alters each item read by BatchGet in place. */
function reading(alter: (table: string, item: Item) => void): Partial<TokenCompositions> {
  const read = (answer: object) => {
    const { Responses = {} }: { readonly Responses?: Record<string, Item[]> } = answer;
    for (const [table, items] of Object.entries(Responses)) for (const item of items) alter(table, item);
  };
  return calling(dynamo => altering(dynamo, () => undefined, read));
}

/** Returns a product with a wrapped DynamoDB client. */
function calling(wrap: (dynamo: Dynamo) => Dynamo): Partial<TokenCompositions> {
  return {
    token: (environment, runtime, telemetry) =>
      composeToken(environment, { ...runtime, dynamo: wrap(runtime.dynamo) }, telemetry),
    revoke: (environment, runtime, telemetry) =>
      composeRevoke(environment, { ...runtime, dynamo: wrap(runtime.dynamo) }, telemetry),
    introspect: (environment, runtime, telemetry) =>
      composeIntrospect(environment, { ...runtime, dynamo: wrap(runtime.dynamo) }, telemetry),
  };
}

/**
 * Composes a token function with many faults. Sessions end before their tokens. It counts each response and reads each item twice, computes
 * a hash for each read of a user, does not update hashes, and has no client limit.
 */
function composeCareless(
  ...[environment, runtime, telemetry]: Parameters<typeof composeToken>
): ReturnType<typeof composeToken> {
  const { dynamo, keyDerivation } = runtime;
  const careless = { ...telemetry, count: (metric: string) => telemetry.count(metric, 2) };
  return composeToken(
    { ...environment, clientFailureLimit: 1_000 },
    {
      ...runtime,
      dynamo: altering(dynamo, async command => {
        if (command instanceof PutCommand) endEarly(command);
        if (command instanceof UpdateCommand && nameIn(command, 'passwordHash')) aimElsewhere(command);
        if (command instanceof BatchGetCommand) await dynamo(new BatchGetCommand(command.input));
        if (command instanceof BatchGetCommand && command.input.RequestItems?.Users)
          await keyDerivation.argon2('argon2id', Buffer.of(), { ...cost, nonce: Buffer.of() });
      }),
    },
    careless,
  );
}

/** Stores a session that ends before its first access token. */
function endEarly({ input }: PutCommand): void {
  input.Item = { ...input.Item, ttl: 1, absoluteExpiresAt: Number(input.Item?.createdAt) + 600_000 };
}

/** Returns an endpoint that replaces text in the body of its requests. */
function changing<Answer>(answer: (request: HttpRequest) => Answer, what: RegExp, instead: string) {
  return (event: HttpRequest | { readonly requestContext?: never }) => {
    if (!event.requestContext) throw new Error('The request is empty.');
    return answer({ ...event, body: event.body?.replace(what, instead) });
  };
}

/** Increments the version of a user or client only if the update sets a role. */
function endOtherwise(command: object): void {
  if (!(command instanceof UpdateCommand)) return;
  const { UpdateExpression: update = '' } = command.input;
  const grown = nameIn(command, 'role') ? update.replace('SET ', 'SET version = version + version, ') : update;
  command.input.UpdateExpression = grown.replace(`${nameIn(command, 'version')} = `, 'another = ');
}

/** Removes the deletions from a transaction. */
function keepFormer(command: object): void {
  if (!(command instanceof TransactWriteCommand)) return;
  command.input.TransactItems = command.input.TransactItems?.filter(({ Delete }) => !Delete);
}

const cost = { memory: 8, passes: 1, parallelism: 1, tagLength: 4 };

/** Changes the key of a write to a key that is never read. */
function aimElsewhere({ input }: DeleteCommand | UpdateCommand): void {
  input.Key = Object.fromEntries(Object.keys(input.Key ?? {}).map(name => [name, 'elsewhere']));
}

/** Extends the condition of a write so that it succeeds for every existing item. */
function writeAnyway({ input }: DeleteCommand | UpdateCommand, key: string): void {
  input.ConditionExpression = `(${input.ConditionExpression}) OR attribute_exists(${key})`;
}

/** Adds one to an attribute instead of setting it. */
function addOneTo(command: UpdateCommand, attribute: string): void {
  const { input } = command;
  const name = nameIn(command, attribute);
  const [assignment, value = ''] = new RegExp(`${name} = (:v\\d+)`).exec(input.UpdateExpression ?? '') ?? [];
  input.UpdateExpression = input.UpdateExpression?.replace(`${assignment}`, `${name} = ${name} + ${value}`);
  input.ExpressionAttributeValues = { ...input.ExpressionAttributeValues, [value]: 1 };
}

/** Returns the placeholder of the first attribute whose name starts with a prefix. */
function nameIn({ input }: UpdateCommand, prefix: string): string | undefined {
  const names = Object.entries(input.ExpressionAttributeNames ?? {});
  return names.find(([, name]) => name.startsWith(prefix))?.[0];
}
