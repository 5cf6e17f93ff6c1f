import type {
  BatchExecuteStatementCommandInput,
  BatchGetItemCommandInput,
  BatchStatementRequest,
  BatchWriteItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { ServiceError } from '../service-error.ts';
import type { Attributes } from './attribute-values.ts';
import { checkOptions, unsupported, validationError } from './errors.ts';
import { keyIn } from './keys.ts';
import type { Table } from './table.ts';

/** Creates the batch operations of DynamoDB. */
export function makeBatchOperations(tableOf: (name: string | undefined) => Table) {
  return { get, write, insert };

  function get(request: BatchGetItemCommandInput): object {
    checkOptions(request, ['RequestItems']);
    const itemsByTable: Record<string, Attributes[]> = {};
    const requests = Object.entries(request.RequestItems ?? {}).flatMap(([name, { Keys = [], ...options }]) => {
      checkOptions(options, ['ConsistentRead']);
      itemsByTable[name] = [];
      return Keys.map(key => ({ name, key, isConsistent: options.ConsistentRead }));
    });
    checkBatch(requests, 100);
    for (const { name, key, isConsistent } of requests) {
      const item = tableOf(name).read(key, isConsistent);
      if (item) itemsByTable[name]?.push(item);
    }
    return { Responses: itemsByTable, UnprocessedKeys: {} };
  }

  function write(request: BatchWriteItemCommandInput): object {
    checkOptions(request, ['RequestItems']);
    const requests = Object.entries(request.RequestItems ?? {}).flatMap(([name, writes]) =>
      writes.map(({ PutRequest: put, DeleteRequest: removal }) => {
        const table = tableOf(name);
        const item = put?.Item;
        return { table, name, item, key: item ? keyIn(table.key, item) : (removal?.Key ?? {}) };
      }),
    );
    checkBatch(requests, 25);
    for (const { table, item, key } of requests) item ? table.check(item) : table.get(key);
    for (const { table, item, key } of requests) item ? table.put(item) : table.remove(key);
    return { UnprocessedItems: {} };
  }

  /** Executes PartiQL statements. Each statement succeeds or fails independently. */
  function insert(request: BatchExecuteStatementCommandInput): object {
    checkOptions(request, ['Statements']);
    const inserts = (request.Statements ?? []).map(readInsert);
    checkBatch(inserts, 25);
    return {
      Responses: inserts.map(({ name, item }) => {
        const error = insertItem(name, item);
        return { TableName: name, ...(error && { Error: { Code: codeOf(error), Message: error.message } }) };
      }),
    };
  }

  /** Parses `INSERT INTO "table" VALUE {'attribute':?,…}`, with a parameter for each attribute. */
  function readInsert({ Statement: text = '', Parameters: values = [], ...others }: BatchStatementRequest) {
    checkOptions(others, []);
    const [, name, list = ''] = /^INSERT INTO "([^"]+)" VALUE \{('[^',]+':\?(?:,'[^',]+':\?)*)\}$/.exec(text) ?? [];
    const names = list.match(/[^',:?]+/g) ?? [];
    if (name === undefined || names.length !== values.length) throw unsupported(`the statement ${text}`);
    if (new Set(names).size < names.length) throw validationError('A statement must not repeat an attribute');
    const item = Object.fromEntries(names.flatMap((attribute, at) => (values[at] ? [[attribute, values[at]]] : [])));
    return { name, item, key: keyIn(tableOf(name).key, item) };
  }

  /** Inserts an item and returns the error, if any. Does not overwrite an existing item. */
  function insertItem(name: string, item: Attributes): ServiceError | undefined {
    try {
      const table = tableOf(name);
      table.check(item);
      if (table.get(keyIn(table.key, item)))
        return new ServiceError('DuplicateItem', 'Duplicate primary key exists in table');
      table.put(item);
      return undefined;
    } catch (error) {
      if (error instanceof ServiceError) return error;
      throw error;
    }
  }
}

function codeOf({ name }: ServiceError): string {
  return name === 'ValidationException' ? 'ValidationError' : name.replace('Exception', '');
}

/** @throws {ServiceError} if the batch is empty or too large, or contains the same item twice */
export function checkBatch(keys: readonly { readonly name: string; readonly key: Attributes }[], max: number): void {
  const texts = keys.map(({ name, key }) => JSON.stringify([name, ...Object.entries(key).sort()]));
  if (keys.length > 0 && keys.length <= max && new Set(texts).size === keys.length) return;
  throw validationError(`A batch must have 1 to ${max} different items.`);
}
