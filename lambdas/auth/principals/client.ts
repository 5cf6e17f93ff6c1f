import { createHash, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';
import type { Item, ItemKey } from '../../platform/aws/dynamo.ts';
import { scopes } from './scope.ts';

/** The grants a client can be allowed. */
export const grantTypes = ['password', 'refresh_token'] as const;

/** A grant as `grant_type` names it. */
export type GrantType = (typeof grantTypes)[number];

/** A client of the token endpoint. Times are in milliseconds since the epoch. */
export type Client = z.output<typeof clientSchema>;

export type ClientSecret = z.output<typeof clientSecretSchema>;

/** Returns whether a text is a possible client id: letters and digits only. */
export function isClientId(text: string): boolean {
  return /^[A-Za-z0-9]{1,64}$/.test(text);
}

/** Returns the key of a client. Table `Clients`: partition `clientId`. */
export function clientKey(table: string, clientId: string): ItemKey {
  return { table, key: { clientId } };
}

export function parseClient(item: Item | undefined): Client | undefined {
  return item && clientSchema.parse(item);
}

export function hashClientSecret(secret: string): string {
  return digest(secret).toString('base64url');
}

/** Returns whether a secret is valid at this moment. */
export function isLiveSecret(secret: ClientSecret, now: number): boolean {
  return secret.expiresAt === undefined || now < secret.expiresAt;
}

/** Returns which of the client's valid secrets was presented, if one was; in constant time, and no faster for an unknown client. */
export function matchingSecret(client: Client | undefined, secret: string, now: number): ClientSecret | undefined {
  const presented = digest(secret);
  const live = client?.secrets.filter(stored => isLiveSecret(stored, now)) ?? [];
  const compared = [...live, noSecret].map(({ hash }) => timingSafeEqual(presented, Buffer.from(hash, 'base64url')));
  return live[compared.indexOf(true)];
}

/** Returns whether a client may refresh: without that, its sessions yield one access token each and nothing more. */
export function mayRefresh({ grants }: Pick<Client, 'grants'>): boolean {
  return grants.includes('refresh_token');
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
  /** At most two, the newest first: a secret can be replaced without an outage. */
  secrets: z.array(clientSecretSchema).check(z.maxLength(2)),
  grants: z.array(z.enum(grantTypes)),
  /** The scopes that its tokens may have at most. */
  scopes: z.array(z.enum(scopes)),
  /** Only users of this account may log in through the client. */
  accountId: z.optional(z.string()),
  /** The grace period after a token rotation, in which the previous refresh token yields the same successor; 0 for none. */
  graceSeconds: z.int().check(z.minimum(0)),
  /** True when the client may introspect tokens of other clients. */
  introspect: z.boolean(),
  status: z.enum(['enabled', 'disabled']),
  /** Grows with every change that ends the client's sessions: a session of another version has ended. */
  version: z.int(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest();
}

/** Compared with too, so that an unknown client costs a comparison. */
const noSecret: Pick<ClientSecret, 'hash'> = { hash: Buffer.alloc(32).toString('base64url') };
