import type {
  BatchGetCommandInput,
  BatchGetCommandOutput,
  BatchWriteCommandInput,
  BatchWriteCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { metadataOf, validationError } from './errors.ts';
import { checkKey, itemText } from './key-schema.ts';
import { checkOptions } from './options.ts';
import type { Table } from './table.ts';
import type { NativeItem, Translation } from './translation.ts';

/** Makes the operations of several items. `mostUnprocessed` says how many of so many are left; one is always done. */
export function makeBatches(
  tableOf: (name: string | undefined) => Table,
  translation: Translation,
  mostUnprocessed: (count: number) => number,
) {
  return { get, write };

  function get(request: BatchGetCommandInput): BatchGetCommandOutput {
    checkOptions(request, batchOptions);
    const wanted = Object.entries(request.RequestItems ?? {}).flatMap(([name, asked]) => {
      checkOptions(asked, readOptions);
      const { Keys = [], ...options } = asked;
      return Keys.map(native => ({ name, native, options, ...readKey(name, native) }));
    });
    checkBatch(wanted, 100);
    const { done, left } = divide(wanted);
    const responses: Record<string, NativeItem[]> = Object.fromEntries(wanted.map(({ name }) => [name, []]));
    for (const { name, table, attributes } of done) {
      const item = table.get(attributes);
      if (item) responses[name]?.push(translation.native(item));
    }
    const unprocessed: NonNullable<BatchGetCommandOutput['UnprocessedKeys']> = {};
    for (const { name, attributes, options } of left) {
      const own = unprocessed[name] ?? { ...options, Keys: [] };
      own.Keys?.push(translation.native(attributes));
      unprocessed[name] = own;
    }
    return { $metadata: metadataOf(200), Responses: responses, UnprocessedKeys: unprocessed };
  }

  function write(request: BatchWriteCommandInput): BatchWriteCommandOutput {
    checkOptions(request, batchOptions);
    const wanted = Object.entries(request.RequestItems ?? {}).flatMap(([name, requests]) =>
      requests.map(each => ({ name, each, ...readWrite(name, each) })),
    );
    checkBatch(wanted, 25);
    const { done, left } = divide(wanted);
    for (const { table, attributes, size, isPut } of done) {
      if (isPut) table.put(attributes, size);
      else table.remove(attributes);
    }
    const unprocessed: NonNullable<BatchWriteCommandOutput['UnprocessedItems']> = {};
    for (const { name, attributes, isPut } of left) {
      const item = translation.native(attributes);
      unprocessed[name] ??= [];
      unprocessed[name].push(isPut ? { PutRequest: { Item: item } } : { DeleteRequest: { Key: item } });
    }
    return { $metadata: metadataOf(200), UnprocessedItems: unprocessed };
  }

  function readKey(name: string, native: NativeItem) {
    const table = tableOf(name);
    const attributes = translation.attributes(native);
    checkKey(table.key, attributes);
    return { table, attributes, text: `${name} ${itemText(table.key, attributes)}` };
  }

  function readWrite(name: string, { PutRequest: put, DeleteRequest: removal }: WriteRequest) {
    if (removal) return { ...readKey(name, removal.Key ?? {}), size: 0, isPut: false };
    const table = tableOf(name);
    const attributes = translation.attributes(put?.Item);
    const size = table.check(attributes);
    return { table, attributes, text: `${name} ${itemText(table.key, attributes)}`, size, isPut: true };
  }

  function divide<Request>(wanted: readonly Request[]): { done: Request[]; left: Request[] } {
    const most = Math.max(0, Math.min(mostUnprocessed(wanted.length), wanted.length - 1));
    const end = wanted.length - most;
    return { done: wanted.slice(0, end), left: wanted.slice(end) };
  }
}

/** A write of a batch. */
type WriteRequest = NonNullable<BatchWriteCommandInput['RequestItems']>[string][number];

const batchOptions = new Set(['RequestItems']);
const readOptions = new Set(['Keys', 'ConsistentRead']);

/** @throws ValidationException for a batch that is empty or too large, or names an item twice. */
function checkBatch(wanted: readonly { readonly text: string }[], most: number): void {
  if (wanted.length === 0) throw validationError('The batch request list cannot be empty');
  if (wanted.length > most) throw validationError('Too many items requested for the batch call');
  if (new Set(wanted.map(({ text }) => text)).size === wanted.length) return;
  throw validationError('Provided list of item keys contains duplicates');
}
