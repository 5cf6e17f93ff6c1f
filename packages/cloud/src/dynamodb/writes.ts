import type {
  DeleteCommandInput,
  PutCommandInput,
  TransactWriteCommandInput,
  UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../service-error.ts';
import type { Attributes, Placeholders, Translation } from './attribute-values.ts';
import { holds } from './conditions.ts';
import { keyIn } from './keys.ts';
import type { Path } from './reader.ts';
import { checkOptions, notKnown, validationError } from './refusals.ts';
import type { Table } from './table.ts';
import { updated } from './updates.ts';

export type Writes = ReturnType<typeof makeWrites>;

/** Creates the writes of one item. */
export function makeWrites(tableOf: (name: string | undefined) => Table, translation: Translation) {
  const { attributes, native, placeholders } = translation;
  return { put, remove, update, check, prepare, execute };

  function put(request: PutCommandInput): Write {
    checkOptions(request, [...writeOptions, 'Item']);
    const item = attributes(request.Item);
    return { request, key: keyIn(tableOf(request.TableName).key, item), change: () => ({ after: item }) };
  }

  function remove(request: DeleteCommandInput): Write {
    checkOptions(request, [...writeOptions, 'Key']);
    return { request, key: attributes(request.Key), change: () => ({}) };
  }

  function update(request: UpdateCommandInput): Write {
    checkOptions(request, [...writeOptions, 'Key', 'UpdateExpression']);
    const { key: tableKey } = tableOf(request.TableName);
    const key = attributes(request.Key);
    return { request, key, change: updateItem };

    function updateItem(before: Attributes | undefined, bound: Placeholders): Changed {
      const changed = updated(request.UpdateExpression ?? '', before ?? key, bound);
      const changedKey = tableKey.find(({ name }) => changed.paths.some(([first]) => first === name));
      if (!changedKey) return changed;
      throw validationError(`Cannot update attribute ${changedKey.name}. This attribute is part of the key`);
    }
  }

  /** A condition of a transaction on an item that it does not write. */
  function check(request: ConditionCheck): Write {
    checkOptions(request, [...writeOptions, 'Key']);
    return { request, key: attributes(request.Key), change: after => ({ after }) };
  }

  /** Checks a write. @throws {ServiceError} if its condition does not hold, or the item would be invalid. */
  function prepare({ request, key, change }: Write) {
    const table = tableOf(request.TableName);
    const before = table.get(key);
    const { ConditionExpression: condition } = request;
    const bound = placeholders(request);
    if (condition !== undefined && !holds(condition, before ?? {}, bound)) {
      const failed = new ServiceError('ConditionalCheckFailedException', 'The conditional request failed');
      throw Object.assign(failed, request.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && { Item: before });
    }
    const { after, paths } = change(before, bound);
    if (after) table.check(after);
    return { before, after, paths, apply: () => (after ? table.put(after) : table.remove(key)) };
  }

  function execute(write: Write): object {
    const { before, after, paths, apply } = prepare(write);
    apply();
    const { ReturnValues: wanted = 'NONE' } = write.request;
    if (wanted === 'NONE') return {};
    if (wanted !== 'ALL_OLD' && !paths) throw notKnown(`ReturnValues ${wanted} of this command`);
    const whole = wanted.endsWith('OLD') ? before : after;
    const values = whole && paths && wanted.startsWith('UPDATED') ? partOf(whole, paths) : whole;
    return Object.keys(values ?? {}).length > 0 ? { Attributes: native(values ?? {}) } : {};
  }
}

/** A write of one item. */
export interface Write {
  readonly request: PutCommandInput | DeleteCommandInput | UpdateCommandInput | ConditionCheck;
  readonly key: Attributes;
  /** Returns the item as it is after the write. */
  readonly change: (before: Attributes | undefined, bound: Placeholders) => Changed;
}

type ConditionCheck = NonNullable<NonNullable<TransactWriteCommandInput['TransactItems']>[number]['ConditionCheck']> & {
  readonly ReturnValues?: never;
};

interface Changed {
  readonly after?: Attributes | undefined;
  /** The attributes that an update changes. */
  readonly paths?: readonly Path[];
}

const writeOptions = [
  'TableName',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ReturnValues',
  'ReturnValuesOnConditionCheckFailure',
];

/** Returns the attributes at some paths. */
function partOf(item: Attributes, paths: readonly Path[]): Attributes {
  if (paths.some(path => path.length > 1)) throw notKnown('ReturnValues of parts of attributes');
  return Object.fromEntries(Object.entries(item).filter(([name]) => paths.some(([first]) => first === name)));
}
