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
import { altering, readInconsistently } from './faulty-delivery.ts';

/** A faulty product, and the violations that its world must report. */
interface Faulty {
  readonly fault: string;
  readonly product: Partial<TokenCompositions>;
  readonly expected: readonly RegExp[];
  /** @default none */
  readonly faultClass?: FaultClass;
  /** @default 1 */
  readonly seed?: number;
}

/** Faults that the product had in the past. */
const pastFaults: readonly Faulty[] = [
  {
    fault: 'does not delete the session of an unsuccessful login (T1)',
    faultClass: 'outages',
    product: sending(command => {
      if (command instanceof DeleteCommand && command.input.ConditionExpression === undefined) redirectWrite(command);
    }),
    expected: [/^a login without tokens left a session/],
  },
  {
    fault: 'restarts an expired failure count that another login already restarted (T3)',
    seed: 2,
    product: sending(command => {
      if (!(command instanceof UpdateCommand) || nameIn(command, 'latestFailure') === undefined) return;
      if (!command.input.UpdateExpression?.includes('if_not_exists')) weakenCondition(command, 'pk');
    }),
    expected: [/^a failure does not count as one/],
  },
];

const otherFaults: readonly Faulty[] = [
  {
    fault: 'rotates tokens and records successes regardless of concurrent writes',
    product: sending(command => {
      if (command instanceof DeleteCommand && command.input.TableName === 'Lockouts') weakenCondition(command, 'pk');
      if (!(command instanceof UpdateCommand) || nameIn(command, 'rotationId') === undefined) return;
      weakenCondition(command, 'userId');
      addOneTo(command, 'counter');
    }),
    expected: [/^a refresh token has two successors/, /^a success was recorded during a lock/],
  },
  {
    fault: 'never ends sessions or counts failures',
    product: sending(command => {
      if (!(command instanceof UpdateCommand)) return;
      const isOfClient = String(command.input.Key?.pk).startsWith('client#');
      if (isOfClient || (nameIn(command, 'revokedFor') ?? nameIn(command, 'latestFailure'))) redirectWrite(command);
    }),
    expected: [
      /^session not ended after revocation/,
      /^session not ended after reuse/,
      /^a failure does not count$/,
      /^a rejected password does not count for its client/,
    ],
  },
  {
    fault: 'ignores roles and ended sessions',
    seed: 3,
    product: reading((table, item) => {
      if (table === 'Users' || table === 'Clients')
        Object.assign(item, { version: 1, status: 'enabled', role: 'admin' });
    }),
    expected: [
      /^token refresh_token: granted instead of rejected/,
      /^introspect: granted instead of rejected/,
      /^a token has the scope "webhooks:read webhooks:manage" instead of ""/,
    ],
  },
  {
    fault: 'treats each lock as expired',
    seed: 2,
    product: reading((_, item) => {
      if (item.lastFailureAt !== undefined) item.lastFailureAt = Number(item.lastFailureAt) - 3_600_000;
    }),
    expected: [/^token password: granted instead of rejected/],
  },
  {
    fault: 'locks with the first failure',
    product: reading((_, item) => {
      if (item.failures !== undefined) item.failures = Number(item.failures) + 4;
    }),
    expected: [/^token password: rejected instead of granted/],
  },
  {
    fault: 'ends sessions only after a role change, and grants more than requested',
    product: {
      token: (...args) => changing(composeToken(...args), /&scope=[^&]*/, ''),
      revoke: (...args) => changing(composeRevoke(...args), /\btoken=ey[^&]*/, 'token=none'),
      operate: runtime => makeOperators({ ...runtime, dynamo: altering(runtime.dynamo, incrementOnlyForRoles) }),
    },
    expected: [
      /^token refresh_token: granted instead of rejected/,
      /^introspect: granted instead of rejected/,
      /^token refresh_token: rejected instead of granted/,
      /^session not ended after revocation/,
      /^a token has the scope "webhooks:read webhooks:manage" instead of "webhooks:read"/,
    ],
  },
  {
    fault: 'does not delete the credential of a former address (A5)',
    product: {
      operate: runtime => makeOperators({ ...runtime, dynamo: altering(runtime.dynamo, keepOldCredentials) }),
    },
    expected: [/^a user without a credential, or a credential without a user/],
  },
  {
    fault: 'uses eventually consistent reads',
    product: sending(readInconsistently),
    expected: [/^a refresh token has two successors/, /^introspect: granted instead of rejected/],
  },
  {
    fault: 'has wrong token times, metrics, reads, TTLs, hashes and limits, and returns 500',
    product: {
      token: composeFaultyToken,
      introspect: (...args) => {
        const introspect = composeIntrospect(...args);
        return async request => ({ ...(await introspect(request)), statusCode: 500 });
      },
    },
    expected: [
      /^introspect: internal error/,
      /^the times of a token are wrong/,
      /^the metric TokenIssued is/,
      /^the TTL of a session is wrong/,
      /^login: BatchGet Users 2 times instead of 1/,
      /^a rejected login computed 2 hashes/,
      /^a login rejected by a lock computed a hash/,
      /^a login did not update the hash parameters/,
      /^status 400, but the client limit was always reached/,
    ],
  },
];

test.each([...pastFaults, ...otherFaults])(
  'The world detects a product that $fault',
  async ({ faultClass = 'none', seed = 1, product, expected }) => {
    const { violations } = await runTokenSeed(seed, faultClass, product);
    for (const pattern of expected)
      expect([pattern, violations.some(violation => pattern.test(violation.message))]).toEqual([pattern, true]);
  },
);

/** Returns a product that alters each DynamoDB command in place. */
function sending(alter: (command: { readonly input: object }) => void): Partial<TokenCompositions> {
  return calling(dynamo => altering(dynamo, alter));
}

/** Returns a product that alters each item read by BatchGet in place. */
function reading(alter: (table: string, item: Item) => void): Partial<TokenCompositions> {
  const read = (response: object) => {
    const { Responses = {} }: { readonly Responses?: Record<string, Item[]> } = response;
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
 * Composes a token function with many faults. Sessions expire before their tokens. The function doubles metrics and reads, computes a hash
 * for each read of a user, does not update hashes, and has no client limit.
 */
function composeFaultyToken(
  ...[environment, runtime, telemetry]: Parameters<typeof composeToken>
): ReturnType<typeof composeToken> {
  const { dynamo, keyDerivation } = runtime;
  const doubled = { ...telemetry, count: (metric: string) => telemetry.count(metric, 2) };
  return composeToken(
    { ...environment, clientFailureLimit: 1_000 },
    {
      ...runtime,
      dynamo: altering(dynamo, async command => {
        if (command instanceof PutCommand) endEarly(command);
        if (command instanceof UpdateCommand && nameIn(command, 'passwordHash')) redirectWrite(command);
        if (command instanceof BatchGetCommand) await dynamo(new BatchGetCommand(command.input));
        if (command instanceof BatchGetCommand && command.input.RequestItems?.Users)
          await keyDerivation.argon2('argon2id', Buffer.of(), { ...cost, nonce: Buffer.of() });
      }),
    },
    doubled,
  );
}

/** Stores a session that expires before its first access token. */
function endEarly({ input }: PutCommand): void {
  input.Item = { ...input.Item, ttl: 1, absoluteExpiresAt: Number(input.Item?.createdAt) + 600_000 };
}

/** Returns an endpoint that replaces text in the body of its requests. */
function changing<Result>(endpoint: (request: HttpRequest) => Result, pattern: RegExp, replacement: string) {
  return (event: HttpRequest | { readonly requestContext?: never }) => {
    if (!event.requestContext) throw new Error('The request is empty.');
    return endpoint({ ...event, body: event.body?.replace(pattern, replacement) });
  };
}

/** Increments the version of a user or client only if the update sets a role. */
function incrementOnlyForRoles(command: object): void {
  if (!(command instanceof UpdateCommand)) return;
  const { UpdateExpression: update = '' } = command.input;
  const changed = nameIn(command, 'role') ? update.replace('SET ', 'SET version = version + version, ') : update;
  command.input.UpdateExpression = changed.replace(`${nameIn(command, 'version')} = `, 'another = ');
}

/** Removes the deletions from a transaction. */
function keepOldCredentials(command: object): void {
  if (!(command instanceof TransactWriteCommand)) return;
  command.input.TransactItems = command.input.TransactItems?.filter(({ Delete }) => !Delete);
}

const cost = { memory: 8, passes: 1, parallelism: 1, tagLength: 4 };

/** Changes the key of a write to a key that is never read. */
function redirectWrite({ input }: DeleteCommand | UpdateCommand): void {
  input.Key = Object.fromEntries(Object.keys(input.Key ?? {}).map(name => [name, 'elsewhere']));
}

/** Extends the condition of a write so that the write succeeds for every existing item. */
function weakenCondition({ input }: DeleteCommand | UpdateCommand, key: string): void {
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
