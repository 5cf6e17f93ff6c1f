import type {
  BatchExecuteStatementCommandInput,
  BatchGetCommandInput,
  BatchWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../service-error.ts';
import type { Attributes, NativeItem, Translation } from './attribute-values.ts';
import { checkOptions, notKnown, validationError } from './refusals.ts';
import type { Table } from './table.ts';

/** Makes the operations of several items. */
export function makeBatches(tableOf: (name: string | undefined) => Table, { attributes, native }: Translation) {
  return { get, write, insert };

  function get(request: BatchGetCommandInput): object {
    checkOptions(request, ['RequestItems']);
    const found: Record<string, NativeItem[]> = {};
    const wanted = Object.entries(request.RequestItems ?? {}).flatMap(([name, asked]) => {
      checkOptions(asked, ['Keys', 'ConsistentRead']);
      found[name] = [];
      return (asked.Keys ?? []).map(key => ({ name, key: attributes(key) }));
    });
    checkBatch(wanted, 100);
    for (const { name, key } of wanted) {
      const item = tableOf(name).get(key);
      if (item) found[name]?.push(native(item));
    }
    return { Responses: found, UnprocessedKeys: {} };
  }

  function write(request: BatchWriteCommandInput): object {
    checkOptions(request, ['RequestItems']);
    const wanted = Object.entries(request.RequestItems ?? {}).flatMap(([name, writes]) =>
      writes.map(({ PutRequest: put, DeleteRequest: removal }) => {
        const item = put && attributes(put.Item);
        return { table: tableOf(name), name, item, key: item ? keyIn(name, item) : attributes(removal?.Key) };
      }),
    );
    checkBatch(wanted, 25);
    for (const { table, item, key } of wanted) item ? table.check(item) : table.get(key);
    for (const { table, item, key } of wanted) item ? table.put(item) : table.remove(key);
    return { UnprocessedItems: {} };
  }

  /** Executes statements of PartiQL, each with an outcome of its own. */
  function insert(request: BatchExecuteStatementCommandInput): object {
    checkOptions(request, ['Statements']);
    const inserts = (request.Statements ?? []).map(readInsert);
    checkBatch(
      inserts.map(({ name, item }) => ({ name, key: keyIn(name, item) })),
      25,
    );
    return { Responses: inserts.map(({ name, item }) => ({ TableName: name, ...failureOf(name, item) })) };
  }

  /** Reads `INSERT INTO "table" VALUE {'attribute':?,…}`, with a parameter for each attribute. */
  function readInsert({ Statement: text = '', Parameters: values = [], ...others }: Statement) {
    checkOptions(others, []);
    const [, name, list = ''] = /^INSERT INTO "([^"]+)" VALUE \{((?:'[^',]+':\?,?)+)\}$/.exec(text) ?? [];
    const given = list.match(/[^',:?]+/g) ?? [];
    if (name === undefined || given.length !== values.length) throw notKnown(`the statement ${text}`);
    return { name, item: attributes(Object.fromEntries(given.map((attribute, at) => [attribute, values[at]]))) };
  }

  /** Inserts an item. An item that is there stays as it is. */
  function failureOf(name: string, item: Attributes): { readonly Error?: object } {
    try {
      const table = tableOf(name);
      table.check(item);
      const isThere = table.get(keyIn(name, item)) !== undefined;
      if (!isThere) table.put(item);
      return isThere ? { Error: { Code: 'DuplicateItem', Message: 'Duplicate primary key exists in table' } } : {};
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { Error: { Code: error.name.replace('Exception', 'Error'), Message: error.message } };
    }
  }

  function keyIn(name: string, item: Attributes): Attributes {
    return Object.fromEntries(tableOf(name).key.flatMap(({ name: part }) => (item[part] ? [[part, item[part]]] : [])));
  }
}

type Statement = NonNullable<BatchExecuteStatementCommandInput['Statements']>[number];

/** @throws {ServiceError} for a batch that is empty or too large, or names an item twice. */
function checkBatch(wanted: readonly { readonly name: string; readonly key: Attributes }[], most: number): void {
  const texts = wanted.map(({ name, key }) => JSON.stringify([name, ...Object.entries(key).sort()]));
  if (wanted.length > 0 && wanted.length <= most && new Set(texts).size === wanted.length) return;
  throw validationError(`A batch has 1 to ${most} items, each once.`);
}
