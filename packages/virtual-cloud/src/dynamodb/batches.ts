import type {
  BatchExecuteStatementCommandInput,
  BatchGetCommandInput,
  BatchWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../service-error.ts';
import type { Attributes, NativeItem, Translation } from './attribute-values.ts';
import { checkOptions, notKnown, validationError } from './refusals.ts';
import type { Table } from './table.ts';

/** Returns the error of an entry of a batch that is refused for now, or none. */
export type Refuse = () => ServiceError | undefined;

/**
 * Makes the operations of several items. What is refused of keys and items is left unprocessed.
 *
 * @throws {ServiceError} where all is refused
 */
export function makeBatches(tableOf: (name: string | undefined) => Table, { attributes, native }: Translation) {
  return { get, write, insert };

  function get(request: BatchGetCommandInput, refuse?: Refuse): object {
    checkOptions(request, ['RequestItems']);
    const found: Record<string, NativeItem[]> = {};
    const wanted = Object.entries(request.RequestItems ?? {}).flatMap(([name, { Keys = [], ...options }]) => {
      checkOptions(options, ['ConsistentRead']);
      found[name] = [];
      return Keys.map(given => ({ name, given, options, key: attributes(given) }));
    });
    checkBatch(wanted, 100);
    const unprocessed: NonNullable<BatchGetCommandInput['RequestItems']> = {};
    const { done, left } = divide(wanted, refuse);
    for (const { name, key } of done) {
      const item = tableOf(name).get(key);
      if (item) found[name]?.push(native(item));
    }
    for (const { name, given, options } of left) {
      unprocessed[name] = { ...options, Keys: [...(unprocessed[name]?.Keys ?? []), given] };
    }
    return { Responses: found, UnprocessedKeys: unprocessed };
  }

  function write(request: BatchWriteCommandInput, refuse?: Refuse): object {
    checkOptions(request, ['RequestItems']);
    const wanted = Object.entries(request.RequestItems ?? {}).flatMap(([name, writes]) =>
      writes.map(given => {
        const item = given.PutRequest && attributes(given.PutRequest.Item);
        const key = item ? keyIn(name, item) : attributes(given.DeleteRequest?.Key);
        return { table: tableOf(name), name, given, item, key };
      }),
    );
    checkBatch(wanted, 25);
    for (const { table, item, key } of wanted) item ? table.check(item) : table.get(key);
    const unprocessed: NonNullable<BatchWriteCommandInput['RequestItems']> = {};
    const { done, left } = divide(wanted, refuse);
    for (const { table, item, key } of done) item ? table.put(item) : table.remove(key);
    for (const { name, given } of left) unprocessed[name] = [...(unprocessed[name] ?? []), given];
    return { UnprocessedItems: unprocessed };
  }

  /** Executes statements of PartiQL, each with an outcome of its own. */
  function insert(request: BatchExecuteStatementCommandInput, refuse?: Refuse): object {
    checkOptions(request, ['Statements']);
    const inserts = (request.Statements ?? []).map(readInsert);
    checkBatch(inserts, 25);
    return {
      Responses: inserts.map(({ name, item }) => {
        const error = refuse?.() ?? failureOf(name, item);
        return { TableName: name, ...(error && { Error: { Code: codeOf(error), Message: error.message } }) };
      }),
    };
  }

  /** Reads `INSERT INTO "table" VALUE {'attribute':?,…}`, with a parameter for each attribute. */
  function readInsert({ Statement: text = '', Parameters: values = [], ...others }: Statement) {
    checkOptions(others, []);
    const [, name, list = ''] = /^INSERT INTO "([^"]+)" VALUE \{((?:'[^',]+':\?,?)+)\}$/.exec(text) ?? [];
    const given = list.match(/[^',:?]+/g) ?? [];
    if (name === undefined || given.length !== values.length) throw notKnown(`the statement ${text}`);
    const item = attributes(Object.fromEntries(given.map((attribute, at) => [attribute, values[at]])));
    return { name, item, key: keyIn(name, item) };
  }

  /** Inserts an item. One that is there stays as it is. */
  function failureOf(name: string, item: Attributes): ServiceError | undefined {
    try {
      const table = tableOf(name);
      table.check(item);
      if (table.get(keyIn(name, item)))
        return new ServiceError('DuplicateItem', 'Duplicate primary key exists in table');
      table.put(item);
      return undefined;
    } catch (error) {
      if (error instanceof ServiceError) return error;
      throw error;
    }
  }

  function keyIn(name: string, item: Attributes): Attributes {
    return Object.fromEntries(tableOf(name).key.flatMap(({ name: part }) => (item[part] ? [[part, item[part]]] : [])));
  }
}

type Statement = NonNullable<BatchExecuteStatementCommandInput['Statements']>[number];

function codeOf({ name }: ServiceError): string {
  return name === 'ValidationException' ? 'ValidationError' : name.replace('Exception', '');
}

/** @throws {ServiceError} for a batch that is empty or too large, or names an item twice. */
function checkBatch(wanted: readonly { readonly name: string; readonly key: Attributes }[], most: number): void {
  const texts = wanted.map(({ name, key }) => JSON.stringify([name, ...Object.entries(key).sort()]));
  if (wanted.length > 0 && wanted.length <= most && new Set(texts).size === wanted.length) return;
  throw validationError(`A batch has 1 to ${most} items, each once.`);
}

function divide<Entry>(entries: readonly Entry[], refuse: Refuse = () => undefined) {
  const errors = entries.map(refuse);
  const [done, left] = [entries.filter((_, at) => !errors[at]), entries.filter((_, at) => errors[at])];
  if (done.length === 0) throw errors[0];
  return { done, left };
}
