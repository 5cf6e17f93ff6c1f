import * as z from 'zod/mini';
import { batchGet } from '../../platform/aws/batch-get.ts';
import type { Dynamo, ItemKey, StoreParts } from '../../platform/aws/dynamo.ts';
import { expression, updateItem } from '../../platform/aws/update-item.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import type { Client, ClientSecret } from './client.ts';

export type SecretUse = ReturnType<typeof makeSecretUse>;

/**
 * Makes the notes of when each client secret was last used, to the day, so that operators see which of two is still in use. Best
 * effort: a note that fails refuses nobody.
 *
 * Table `Lockouts`: partition `pk`, here `secret#<client id>#<when the secret was made>`; `lastUsedOn` and `ttl`. The functions that
 * authenticate clients may write there, and never to `Clients`.
 */
export function makeSecretUse({ dynamo, table, now, log }: StoreParts & { readonly log: Pick<Log, 'warn'> }) {
  // A process writes a secret's day once: what it noted is forgotten at midnight.
  const noted = { day: '', keys: new Set<string>() };
  const pending = new Set<Promise<void>>();
  return { note, settled };

  /** Begins to note that a secret of a client was used today. */
  function note({ clientId }: Pick<Client, 'clientId'>, secret: Pick<ClientSecret, 'createdAt'>): void {
    const day = dayOf(now());
    if (noted.day !== day) Object.assign(noted, { day, keys: new Set() });
    const { pk } = secretUseKey(table, clientId, secret).key;
    if (noted.keys.has(pk)) return;
    noted.keys.add(pk);
    const writing: Promise<void> = write(secretUseKey(table, clientId, secret), day).finally(() =>
      pending.delete(writing),
    );
    pending.add(writing);
  }

  /** Waits for the notes that were begun: what a function leaves undone when it answers may never be done. */
  async function settled(): Promise<void> {
    await Promise.all(pending);
  }

  async function write(key: ItemKey, day: string): Promise<void> {
    try {
      await updateItem(dynamo, key, {
        set: { lastUsedOn: day, ttl: Math.ceil(now() / 1_000) + lifetimeSeconds },
        when: expression`attribute_not_exists(lastUsedOn) OR lastUsedOn < ${day}`,
      });
    } catch (error) {
      noted.keys.delete(String(key.key.pk));
      log.warn('client_secret.use_not_noted', describeError(error));
    }
  }
}

/**
 * Reads on which day, `YYYY-MM-DD` in UTC, each secret of a client was last used, in the order of its secrets; `undefined` where
 * nothing tells of a use.
 */
export async function readLastUses(
  dynamo: Dynamo,
  table: string,
  { clientId, secrets }: Client,
): Promise<readonly (string | undefined)[]> {
  const items = await batchGet(
    dynamo,
    secrets.map(secret => secretUseKey(table, clientId, secret)),
  );
  return items.map(item => item && secretUseSchema.parse(item).lastUsedOn);
}

/** Reads the notes on a client's secrets, those too that its latest replacement dropped, by when each secret was made. */
export async function readNotedUses(
  dynamo: Dynamo,
  table: string,
  client: Client,
): Promise<readonly { readonly madeAt: number; readonly lastUsedOn: string }[]> {
  const items = await batchGet(dynamo, secretUseKeys(table, client));
  const notes = items.map(
    (item, at) => item && { madeAt: notedSecrets(client)[at] ?? 0, ...secretUseSchema.parse(item) },
  );
  return notes.filter(note => note !== undefined);
}

/** Returns the keys of the notes on the secrets that a client's latest replacement dropped. The next one forgets which they were. */
export function droppedUseKeys(table: string, { clientId, droppedSecrets = [] }: Client): readonly ItemKey[] {
  return droppedSecrets.map(createdAt => secretUseKey(table, clientId, { createdAt }));
}

export function secretUseKeys(table: string, client: Client): readonly ItemKey[] {
  return notedSecrets(client).map(createdAt => secretUseKey(table, client.clientId, { createdAt }));
}

/** Returns when the secrets were made that there may be notes on. */
function notedSecrets({ secrets, droppedSecrets = [] }: Client): readonly number[] {
  return [...secrets.map(({ createdAt }) => createdAt), ...droppedSecrets];
}

function secretUseKey(table: string, clientId: string, { createdAt }: Pick<ClientSecret, 'createdAt'>) {
  return { table, key: { pk: `secret#${clientId}#${createdAt}` } };
}

const secretUseSchema = z.object({ lastUsedOn: z.string() });

function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10);
}

/** 400 days: a secret that nobody used for longer shows no use. */
const lifetimeSeconds = 400 * 86_400;
