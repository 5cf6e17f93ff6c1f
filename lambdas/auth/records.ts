import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../platform/batch-get.ts';
import type { Item, ItemKey } from '../platform/dynamo.ts';

/** Where to read records, by the names they are to have; those without an address are not read. */
export type Reads<Name extends string> = Record<Name, ItemKey | undefined>;

/** Records by name, as they were read. */
export type Records<Name extends string> = Record<Name, Item | undefined>;

/** Reads named records of any tables, consistently and in one round trip. */
export async function readRecords<Name extends string>(
  dynamo: Pick<DynamoDBDocumentClient, 'send'>,
  reads: Reads<Name>,
): Promise<Records<Name>> {
  const wanted = (Object.entries(reads) as [Name, ItemKey | undefined][]).flatMap(([name, address]) =>
    address ? [{ name, address }] : [],
  );
  const items = await batchGet(
    dynamo,
    wanted.map(({ address }) => address),
  );
  return Object.fromEntries(wanted.map(({ name }, position) => [name, items[position]])) as Records<Name>;
}
