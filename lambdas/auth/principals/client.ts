import { createHash, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';
import type { Item, ItemKey } from '../../platform/dynamo.ts';
import { scopes } from './scope.ts';

/** The grants a client can be allowed. */
export const grantTypes = ['password', 'refresh_token'] as const;

/** A grant as `grant_type` names it. */
export type GrantType = (typeof grantTypes)[number];

/** A client of the token endpoint. Moments are in milliseconds since the epoch. */
export type Client = z.output<typeof clientSchema>;

/** One live secret of a client. */
export type ClientSecret = z.output<typeof clientSecretSchema>;

/** Whether a text could be the id of a client: ids are letters and digits only. */
export function isClientId(text: string): boolean {
  return /^[A-Za-z0-9]{1,64}$/.test(text);
}

/** Where a client is stored. Table `Clients`: partition `clientId`. */
export function clientKey(table: string, clientId: string): ItemKey {
  return { table, key: { clientId } };
}

/** Reads a stored client. */
export function parseClient(item: Item | undefined): Client | undefined {
  return item && clientSchema.parse(item);
}

/** What is stored of a client secret. */
export function hashClientSecret(secret: string): string {
  return digest(secret).toString('base64url');
}

/** Whether a secret counts at this moment. */
export function isLiveSecret(secret: ClientSecret, now: number): boolean {
  return secret.expiresAt === undefined || now < secret.expiresAt;
}

/** Whether a secret is one of the client's live ones; takes as long for a client there is not. */
export function matchesClientSecret(client: Client | undefined, secret: string, now: number): boolean {
  const presented = digest(secret);
  const live = client?.secrets.filter(stored => isLiveSecret(stored, now)) ?? [];
  const compared = [...live, noSecret].map(({ hash }) => timingSafeEqual(presented, Buffer.from(hash, 'base64url')));
  return compared.slice(0, live.length).includes(true);
}

const clientSecretSchema = z.object({
  /** SHA-256, base64url: the secret itself is random and long, so nothing slower is needed. */
  hash: z.string(),
  createdAt: z.number(),
  expiresAt: z.optional(z.number()),
});

const clientSchema = z.object({
  clientId: z.string(),
  name: z.string(),
  /** At most two, the newest first, so that a secret can be replaced without an outage. */
  secrets: z.array(clientSecretSchema).check(z.maxLength(2)),
  grants: z.array(z.enum(grantTypes)),
  /** The most that its tokens may be allowed. */
  scopes: z._default(z.array(z.enum(scopes)), [...scopes]),
  /** Only users of this account may log in through the client. */
  accountId: z.optional(z.string()),
  /** How long after a rotation the previous refresh token still gives the same successor; 0 is strict. */
  graceSeconds: z.int().check(z.minimum(0)),
  /** Whether the client may introspect tokens of other clients. */
  introspect: z.boolean(),
  status: z.enum(['enabled', 'disabled']),
  /** Grows with whatever ends the client's sessions: those that began under another version are over. */
  version: z._default(z.int(), 1),
  createdAt: z.number(),
  updatedAt: z.number(),
});

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest();
}

/** What an unknown client's secret is compared with. */
const noSecret: Pick<ClientSecret, 'hash'> = { hash: Buffer.alloc(32).toString('base64url') };
