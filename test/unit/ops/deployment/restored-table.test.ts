import { CreateTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchDelete } from '../../../../lambdas/platform/aws/batch-delete.ts';
import type { Item } from '../../../../lambdas/platform/aws/dynamo.ts';
import { compareTables, putMissing } from '../../../../ops/deployment/restored-table.ts';
import { tableDefinition } from '../../../../tools/support/tables.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';

const both = { table: 'Sessions', restored: 'Sessions-restored', keyNames: ['userId', 'sessionId'] };
const now = 1_000;

let database: Database;
beforeAll(async () => {
  database = await startDatabase('Sessions');
  const { client } = database;
  await client.send(
    new CreateTableCommand({
      TableName: both.restored,
      BillingMode: 'PAY_PER_REQUEST',
      ...tableDefinition('Sessions'),
    }),
  );
  await waitUntilTableExists({ client, minDelay: 1, maxDelay: 1, maxWaitTime: 10 }, { TableName: both.restored });
});
afterAll(() => database.stop());

const itemsOf = async (table: string): Promise<Item[]> =>
  (await database.dynamo(new ScanCommand({ TableName: table }))).Items ?? [];
const keyOf = ({ userId, sessionId }: Item) => `${userId} ${sessionId}`;
const pause = () => Promise.reject(new Error('no partition is busy'));

/** Makes a table hold these items and no others. */
const fill = async (table: string, items: readonly Item[]): Promise<void> => {
  const present = await itemsOf(table);
  await batchDelete(
    database.dynamo,
    present.map(({ userId, sessionId }) => ({ table, key: { userId, sessionId } })),
  );
  for (const Item of items) await database.dynamo(new PutCommand({ TableName: table, Item }));
};

const copy = async () => {
  let copied = 0;
  const comparison = await compareTables(database.dynamo, both, {
    now,
    pause,
    onMissing: async item => {
      if (await putMissing(database.dynamo, both, item)) copied += 1;
    },
  });
  return { ...comparison, copied };
};

describe('a table that was restored beside', () => {
  it('gives back what is missing, and nothing else, whatever both hold', async () => {
    const fate = fc.constantFrom('same', 'changed', 'missing', 'expired', 'new' as const);
    await fc.assert(
      fc.asyncProperty(fc.array(fate, { maxLength: 130 }), async fates => {
        const made = fates.map((of, at) => ({
          of,
          item: { userId: `user${at % 7}`, sessionId: `session${at}`, data: new Uint8Array([at % 256]), of },
        }));
        const earlier = made.flatMap<Item>(({ of, item }) =>
          of === 'new' ? [] : [of === 'expired' ? { ...item, ttl: now } : { ...item, ttl: now + 1 }],
        );
        const present = made.flatMap<Item>(({ of, item }) =>
          of === 'same'
            ? [{ ...item, ttl: now + 1 }]
            : of === 'changed' || of === 'new'
              ? [{ ...item, later: true }]
              : [],
        );
        await fill(both.restored, earlier);
        await fill(both.table, present);
        const count = (wanted: string) => fates.filter(of => of === wanted).length;
        const counts = {
          restored: earlier.length,
          same: count('same'),
          changed: count('changed'),
          missing: count('missing'),
          expired: count('expired'),
        };
        expect(await compareTables(database.dynamo, both, { now, pause })).toEqual(counts);
        expect(await itemsOf(both.table)).toHaveLength(present.length);

        expect(await copy()).toEqual({ ...counts, copied: counts.missing });
        const wanted = [...present, ...earlier.filter(({ of }) => of === 'missing')];
        const byKey = (one: Item, other: Item) => (keyOf(one) < keyOf(other) ? -1 : 1);
        expect((await itemsOf(both.table)).toSorted(byKey)).toEqual(wanted.toSorted(byKey));
        expect(await copy()).toMatchObject({ missing: 0, copied: 0 });
      }),
      { numRuns: 12 },
    );
  });

  it('writes nothing more once it has failed', async () => {
    await fill(both.table, []);
    await fill(
      both.restored,
      Array.from({ length: 600 }, (_, at) => ({ userId: 'user', sessionId: `session${at}` })),
    );
    let [asked, written] = [0, 0];
    const failing = compareTables(database.dynamo, both, {
      now,
      pause,
      onMissing: async () => {
        asked += 1;
        if (asked === 50) throw new Error('no permission');
        const isOfSameBatch = asked > 40 && asked <= 80;
        await new Promise(resolve => setTimeout(resolve, isOfSameBatch ? 100 : 1));
        written += 1;
      },
    });
    await expect(failing).rejects.toThrow('no permission');
    const then = written;
    await new Promise(resolve => setTimeout(resolve, 200));
    expect(written).toBe(then);
    expect(asked).toBeLessThan(300);
  });

  it('waits for a partition that gives only so many items at once', async () => {
    await fill(both.restored, [{ userId: 'user', sessionId: 'session' }]);
    await fill(both.table, []);
    const waits: number[] = [];
    const busy = async (command: object) => {
      if (!(command instanceof BatchGetCommand) || waits.length === 3) return database.dynamo(command as never);
      return { UnprocessedKeys: command.input.RequestItems };
    };
    const patiently = async (milliseconds: number) => void waits.push(milliseconds);
    expect(await compareTables(busy as never, both, { now, pause: patiently })).toMatchObject({ missing: 1 });
    expect(waits).toEqual([100, 200, 400]);
  });

  it('overwrites no item that was written meanwhile', async () => {
    const item = { userId: 'user', sessionId: 'session', counter: 1 };
    await fill(both.restored, [item]);
    await fill(both.table, []);
    await compareTables(database.dynamo, both, {
      now,
      pause,
      onMissing: async missing => {
        await database.dynamo(new PutCommand({ TableName: both.table, Item: { ...item, counter: 2 } }));
        expect(await putMissing(database.dynamo, both, missing)).toBe(false);
      },
    });
    expect(await itemsOf(both.table)).toEqual([{ ...item, counter: 2 }]);
  });
});
