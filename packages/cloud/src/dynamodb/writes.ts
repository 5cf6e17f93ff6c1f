import type { DeleteItemCommandInput, PutItemCommandInput, UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import { ServiceError } from '../service-error.ts';
import type { Attributes } from './attribute-values.ts';
import { meetsCondition } from './conditions.ts';
import { checkOptions, unsupported, validationError } from './errors.ts';
import { keyIn } from './keys.ts';
import { type Placeholders, placeholdersOf } from './reader.ts';
import type { Table } from './table.ts';
import { changesOf } from './updates.ts';

export type Writes = ReturnType<typeof makeWrites>;

/** Creates the operations that write single items. */
export function makeWrites(tableOf: (name: string | undefined) => Table) {
  return { put, remove, update, prepare, execute };

  function put(request: PutItemCommandInput): Write {
    checkOptions(request, [...writeOptions, 'Item']);
    const { TableName, Item: item = {} } = request;
    return { request, key: keyIn(tableOf(TableName).key, item), change: () => item };
  }

  function remove(request: DeleteItemCommandInput): Write {
    checkOptions(request, [...writeOptions, 'Key']);
    return { request, key: request.Key ?? {}, change: () => undefined };
  }

  function update(request: UpdateItemCommandInput): Write {
    checkOptions(request, [...writeOptions, 'Key', 'UpdateExpression']);
    const { Key: key = {}, TableName, UpdateExpression = '' } = request;
    const { key: tableKey } = tableOf(TableName);
    return { request, key, change: updateItem };

    function updateItem(before: Attributes = key, placeholders: Placeholders): Attributes {
      const changes = changesOf(UpdateExpression, before, placeholders);
      const changedKey = tableKey.find(({ name }) => changes.has(name));
      if (changedKey) throw validationError(`Cannot update attribute ${changedKey.name}. It is part of the key`);
      const all = new Map([...Object.entries(before), ...changes]);
      return Object.fromEntries([...all].flatMap(([name, value]) => (value ? [[name, value]] : [])));
    }
  }

  /** Checks a write. @throws {ServiceError} if its condition fails or the new item is invalid */
  function prepare({ request, key, change }: Write) {
    const table = tableOf(request.TableName);
    const before = table.get(key);
    const { ConditionExpression: condition } = request;
    const placeholders = placeholdersOf(request);
    if (condition !== undefined && !meetsCondition(condition, before ?? {}, placeholders)) {
      throw new ServiceError('ConditionalCheckFailedException', 'The conditional request failed');
    }
    const after = change(before, placeholders);
    if (after) table.check(after);
    return { before, after, apply: () => (after ? table.put(after) : table.remove(key)) };
  }

  function execute(write: Write): object {
    const { ReturnValues: returnValues = 'NONE' } = write.request;
    if (!['NONE', 'ALL_OLD', 'ALL_NEW'].includes(returnValues)) throw unsupported(`ReturnValues ${returnValues}`);
    const { before, after, apply } = prepare(write);
    apply();
    const values = returnValues === 'ALL_OLD' ? before : after;
    return values && returnValues !== 'NONE' ? { Attributes: values } : {};
  }
}

/** A write to one item. */
export interface Write {
  readonly request: (PutItemCommandInput | DeleteItemCommandInput | UpdateItemCommandInput) & {
    readonly UpdateExpression?: string | undefined;
  };
  readonly key: Attributes;
  /** Returns the new item, or `undefined` if the write removes it. */
  readonly change: (before: Attributes | undefined, placeholders: Placeholders) => Attributes | undefined;
}

const writeOptions = [
  'TableName',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ReturnValues',
];
