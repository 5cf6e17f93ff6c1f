import * as z from 'zod/mini';
import { batchGet } from '../../platform/aws/batch-get.ts';
import type { Dynamo, ItemKey, StoreParts } from '../../platform/aws/dynamo.ts';
import { expression, updateItem } from '../../platform/aws/update-item.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import { type Time, withDeadline } from '../../platform/timer.ts';
import type { Client, ClientSecret } from './client.ts';

export type SecretUse = ReturnType<typeof makeSecretUse>;

/**
 * Makes the notes of when each client secret was last used, to the day, so that operators see which of two is still in use. Best
 * effort: a note that fails refuses nobody.
 *
 * Table `Lockouts`: partition `pk`, here `secret#<client id>#<when the secret was made>`; `lastUsedOn` and `ttl`. The functions that
 * authenticate clients may write there, and never to `Clients`.
 */
export function makeSecretUse({ dynamo, table, now, after, log }: SecretUseParts) {
  // A process writes a secret's day once, and where that failed, again after a minute: requests wait for it. One entry for each secret.
  const notedUntil = new Map<string, number>();
  const pending = new Set<Promise<void>>();
  return { note, settled };

  /** Begins to note that a secret of a client was used today. */
  function note({ clientId }: Pick<Client, 'clientId'>, secret: Pick<ClientSecret, 'createdAt'>): void {
    const itemKey = secretUseKey(table, clientId, secret);
    if (now() < (notedUntil.get(itemKey.key.pk) ?? 0)) return;
    const today = dayOf(now());
    notedUntil.set(itemKey.key.pk, Date.parse(today) + 86_400_000);
    const writing: Promise<void> = write(itemKey, today).finally(() => pending.delete(writing));
    pending.add(writing);
  }

  /** Waits for the notes that were begun: what a function leaves undone when it answers may never be done. */
  async function settled(): Promise<void> {
    await Promise.all(pending);
  }

  async function write(itemKey: ReturnType<typeof secretUseKey>, today: string): Promise<void> {
    try {
      await withDeadline(after, longestWait, abortSignal =>
        updateItem(command => dynamo(command, { abortSignal }), itemKey, {
          set: { lastUsedOn: today, ttl: Math.ceil(now() / 1_000) + lifetimeSeconds },
          when: expression`attribute_not_exists(lastUsedOn) OR lastUsedOn < ${today}`,
        }),
      );
    } catch (error) {
      notedUntil.set(itemKey.key.pk, now() + retryAfter);
      log.warn('client_secret.use_not_noted', describeError(error));
    }
  }
}

interface SecretUseParts extends StoreParts, Pick<Time, 'after'> {
  readonly log: Pick<Log, 'warn'>;
}

/**
 * Reads on which day, `YYYY-MM-DD` in UTC, each secret of a client was last used, in the order of its secrets; `undefined` where
 * nothing tells of a use.
 */
export async function readLastUses(
  dynamo: Dynamo,
  table: string,
  client: Client,
): Promise<readonly (string | undefined)[]> {
  const notes = await readNotedUses(dynamo, table, client);
  return client.secrets.map(({ createdAt }) => notes.find(({ madeAt }) => madeAt === createdAt)?.lastUsedOn);
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

/** Milliseconds. A write takes a few: a request waits no longer for one that hangs. */
const longestWait = 500;

/** Milliseconds from a note that failed to the next one. */
const retryAfter = 60_000;

/** 400 days: a secret that nobody used for longer shows no use. */
const lifetimeSeconds = 400 * 86_400;
