import type {
  DeleteCommandInput,
  DeleteCommandOutput,
  GetCommandInput,
  GetCommandOutput,
  PutCommandInput,
  PutCommandOutput,
  UpdateCommandInput,
  UpdateCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { changedPaths, updated } from './apply-update.ts';
import type { Attributes } from './attribute-values.ts';
import { project } from './document-paths.ts';
import { conditionFailed, metadataOf, notImplemented, validationError } from './errors.ts';
import { checkOperands, holds } from './evaluate-condition.ts';
import { expressions } from './expressions.ts';
import { checkKey, type KeySchema } from './key-schema.ts';
import { checkOptions } from './options.ts';
import { attributeOf, bindPlaceholders, type Placeholders, resolvePath } from './placeholders.ts';
import type { Condition, Parsed } from './syntax.ts';
import type { Table } from './table.ts';
import type { NativeItem, Translation } from './translation.ts';

/** Makes the operations of single items. */
export function makeSingleItems(tableOf: (name: string | undefined) => Table, translation: Translation) {
  return { get, put, update, remove };

  function get(request: GetCommandInput): GetCommandOutput {
    checkOptions(request, getOptions);
    const table = tableOf(request.TableName);
    const projection = expressions.projection(request.ProjectionExpression);
    const placeholders = bind(request, [projection]);
    const item = table.get(keyOf(table, request.Key));
    if (!item) return answer({});
    const paths = projection?.tree.map(path => resolvePath(path, placeholders));
    return answer({ Item: translation.native(paths ? project(item, paths) : item) });
  }

  function put(request: PutCommandInput): PutCommandOutput {
    checkOptions(request, putOptions);
    const table = tableOf(request.TableName);
    const condition = expressions.condition(request.ConditionExpression);
    const placeholders = bind(request, [condition]);
    const item = translation.attributes(request.Item);
    const size = table.check(item);
    const before = table.get(item);
    demand(condition, before, placeholders);
    table.put(item, size);
    return answer(allOld(request.ReturnValues, before));
  }

  function update(request: UpdateCommandInput): UpdateCommandOutput {
    checkOptions(request, updateOptions);
    const table = tableOf(request.TableName);
    const condition = expressions.condition(request.ConditionExpression);
    const change = expressions.update(request.UpdateExpression);
    const placeholders = bind(request, [condition, change]);
    const key = keyOf(table, request.Key);
    const paths = change ? changedPaths(change.tree, placeholders) : [];
    checkKeyIsKept(
      table.key,
      paths.map(path => attributeOf(path, placeholders)),
    );
    const before = table.get(key);
    demand(condition, before, placeholders);
    const after = change ? updated(before ?? key, change.tree, placeholders) : (before ?? key);
    table.put(after, table.check(after, 'Item size to update has exceeded the maximum allowed size'));
    switch (request.ReturnValues ?? 'NONE') {
      case 'NONE':
        return answer({});
      case 'ALL_OLD':
        return answer(attributes(before));
      case 'ALL_NEW':
        return answer(attributes(after));
      case 'UPDATED_OLD':
        return answer(attributes(before && project(before, paths)));
      case 'UPDATED_NEW':
        return answer(attributes(project(after, paths)));
      default:
        throw notImplemented(`ReturnValues ${request.ReturnValues}`);
    }
  }

  function remove(request: DeleteCommandInput): DeleteCommandOutput {
    checkOptions(request, deleteOptions);
    const table = tableOf(request.TableName);
    const condition = expressions.condition(request.ConditionExpression);
    const placeholders = bind(request, [condition]);
    const key = keyOf(table, request.Key);
    const before = table.get(key);
    demand(condition, before, placeholders);
    table.remove(key);
    return answer(allOld(request.ReturnValues, before));
  }

  function keyOf(table: Table, native: NativeItem | undefined): Attributes {
    const key = translation.attributes(native);
    checkKey(table.key, key);
    return key;
  }

  function bind(request: PutCommandInput | GetCommandInput, parsed: Parameters<typeof bindPlaceholders>[1]) {
    const values = 'ExpressionAttributeValues' in request ? request.ExpressionAttributeValues : undefined;
    return bindPlaceholders(
      { names: request.ExpressionAttributeNames, values: values && translation.attributes(values) },
      parsed,
    );
  }

  function allOld(wanted: string | undefined, before: Attributes | undefined): { Attributes?: NativeItem } {
    if (wanted === undefined || wanted === 'NONE') return {};
    if (wanted !== 'ALL_OLD') throw validationError('ReturnValues can only be ALL_OLD or NONE');
    return attributes(before);
  }

  /** An answer has no attributes where there are none. */
  function attributes(found: Attributes | undefined): { Attributes?: NativeItem } {
    return found && Object.keys(found).length > 0 ? { Attributes: translation.native(found) } : {};
  }
}

const placeholderOptions = ['ExpressionAttributeNames', 'ExpressionAttributeValues'];
const writeOptions = ['TableName', 'ConditionExpression', 'ReturnValues', ...placeholderOptions];
const putOptions = new Set([...writeOptions, 'Item']);
const deleteOptions = new Set([...writeOptions, 'Key']);
const updateOptions = new Set([...writeOptions, 'Key', 'UpdateExpression']);
const getOptions = new Set(['TableName', 'Key', 'ConsistentRead', 'ProjectionExpression', 'ExpressionAttributeNames']);

function answer<Output extends object>(output: Output) {
  return { $metadata: metadataOf(200), ...output };
}

/** @throws {ConditionalCheckFailedException} where a condition does not hold. */
function demand(
  condition: Parsed<Condition> | undefined,
  item: Attributes | undefined,
  placeholders: Placeholders,
): void {
  if (!condition) return;
  checkOperands(condition.tree, placeholders);
  if (!holds(condition.tree, item ?? {}, placeholders)) throw conditionFailed();
}

function checkKeyIsKept({ attributes }: KeySchema, changed: readonly string[]): void {
  const key = attributes.find(({ name }) => changed.includes(name));
  if (!key) return;
  throw validationError(
    `One or more parameter values were invalid: Cannot update attribute ${key.name}. This attribute is part of the key`,
  );
}
