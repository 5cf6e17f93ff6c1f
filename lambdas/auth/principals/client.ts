import { createHash, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';
import type { Item, ItemKey } from '../../platform/aws/dynamo.ts';
import { scopes } from './scope.ts';

/** The grants that a client can have. */
export const grantTypes = ['password', 'refresh_token'] as const;

export type GrantType = (typeof grantTypes)[number];

/** A client of the token endpoint. Times are in milliseconds since the epoch. */
export type Client = z.output<typeof clientSchema>;

export type ClientSecret = z.output<typeof clientSecretSchema>;

/** Returns whether a string is a well-formed client id, which contains only letters and digits. */
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

export function isLiveSecret(secret: ClientSecret, now: number): boolean {
  return secret.expiresAt === undefined || now < secret.expiresAt;
}

/** Returns the client's valid secret that matches, if any. Each comparison takes constant time. */
export function matchingSecret(client: Client | undefined, secret: string, now: number): ClientSecret | undefined {
  const sha256 = digest(secret);
  const liveSecrets = client?.secrets.filter(stored => isLiveSecret(stored, now)) ?? [];
  const matches = [...liveSecrets, noSecret].map(({ hash }) => timingSafeEqual(sha256, Buffer.from(hash, 'base64url')));
  return liveSecrets[matches.indexOf(true)];
}

/** Returns whether a client may refresh. If not, each of its sessions has a single access token. */
export function mayRefresh({ grants }: Pick<Client, 'grants'>): boolean {
  return grants.includes('refresh_token');
}

const clientSecretSchema = z.object({
  /** The SHA-256 hash in base64url. A fast hash is sufficient because the secret is long and random. */
  hash: z.string(),
  createdAt: z.number(),
  expiresAt: z.optional(z.number()),
});

const clientSchema = z.object({
  clientId: z.string(),
  name: z.string(),
  /** At most two secrets, newest first. The older one remains valid during a replacement. */
  secrets: z.array(clientSecretSchema).check(z.maxLength(2)),
  grants: z.array(z.enum(grantTypes)),
  scopes: z.array(z.enum(scopes)),
  /** The account whose users may log in through the client. @default - all accounts */
  accountId: z.optional(z.string()),
  /** The grace period after a rotation, in seconds. During it, the previous refresh token returns the same successor. 0 disables it. */
  graceSeconds: z.int().check(z.minimum(0)),
  /** True if the client may introspect tokens of other clients. */
  introspect: z.boolean(),
  status: z.enum(['enabled', 'disabled']),
  /** Increases with every change that ends the client's sessions. Sessions with another version have ended. */
  version: z.int(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest();
}

/** A hash that no secret matches. It adds a comparison to every request, even if the client is unknown. */
const noSecret: Pick<ClientSecret, 'hash'> = { hash: Buffer.alloc(32).toString('base64url') };
