import type { QueryCommandInput, QueryCommandOutput, ScanCommandInput, ScanCommandOutput } from '@aws-sdk/lib-dynamodb';
import type { Attributes } from './attribute-values.ts';
import { project } from './document-paths.ts';
import { metadataOf, validationError } from './errors.ts';
import { checkOperands, holds } from './evaluate-condition.ts';
import { expressions } from './expressions.ts';
import { type Bounds, readKeyCondition } from './key-condition.ts';
import { checkIndexKey, checkItemKey, keyText } from './key-schema.ts';
import { checkOptions } from './options.ts';
import { attributesOf, bindPlaceholders, type Placeholders, resolvePath } from './placeholders.ts';
import { compareOrders, type Entry, firstWhere, type Place } from './sorted-partitions.ts';
import type { Condition, Parsed, Path } from './syntax.ts';
import type { Source, Table } from './table.ts';
import type { Translation } from './translation.ts';

/** Makes the operations that read many items, in pages. */
export function makeQueries(tableOf: (name: string | undefined) => Table, translation: Translation) {
  return { query, scan };

  function query(request: QueryCommandInput): QueryCommandOutput {
    checkOptions(request, queryOptions);
    const table = tableOf(request.TableName);
    const source = table.source(request.IndexName, request.ConsistentRead);
    const condition = expressions.keyCondition(request.KeyConditionExpression);
    if (!condition)
      throw validationError(
        'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
      );
    const chosen = readChoice(request, source, condition);
    checkOperands(condition.tree, chosen.placeholders);
    const { hash, range } = readKeyCondition(condition.tree, source.key, chosen.placeholders);
    const partition = keyText(hash);
    const start = startOf(request, table, source);
    if (start && start.partition !== partition) throw startInvalid();
    const entries = stretchOf(source.entries().partition(partition), range);
    return pageOf(remaining(entries, request.ScanIndexForward ?? true, start), request, chosen, table, source);
  }

  function scan(request: ScanCommandInput): ScanCommandOutput {
    checkOptions(request, scanOptions);
    const table = tableOf(request.TableName);
    const source = table.source(request.IndexName, request.ConsistentRead);
    const chosen = readChoice(request, source);
    return pageOf(source.entries().after(startOf(request, table, source)), request, chosen, table, source);
  }

  /** Reads which of the items, and what of them, is wanted. */
  function readChoice(request: ScanCommandInput, source: Source, condition?: Parsed<Condition>): Choice {
    const [filter, projection] = [
      expressions.filter(request.FilterExpression),
      expressions.projection(request.ProjectionExpression),
    ];
    const values = request.ExpressionAttributeValues && translation.attributes(request.ExpressionAttributeValues);
    const placeholders = bindPlaceholders({ names: request.ExpressionAttributeNames, values }, [
      condition,
      filter,
      projection,
    ]);
    for (const parsed of [filter, projection]) if (parsed) checkProjected(attributesOf(parsed, placeholders), source);
    if (filter) checkOperands(filter.tree, placeholders);
    if (filter && condition) checkNoKey(attributesOf(filter, placeholders), source);
    const paths = projection?.tree.map(path => resolvePath(path, placeholders));
    return { placeholders, filter: filter?.tree, paths };
  }

  function startOf({ ExclusiveStartKey: start }: ScanCommandInput, table: Table, source: Source): Place | undefined {
    if (start === undefined) return undefined;
    const key = translation.attributes(start);
    const names = new Set([...table.key.attributes, ...source.key.attributes].map(({ name }) => name));
    if (Object.keys(key).length !== names.size || [...names].some(name => !key[name])) throw startInvalid();
    checkItemKey(table.key, key);
    if (source.index !== undefined) checkIndexKey(source.index, source.key, key);
    return source.placeOf(key);
  }

  function pageOf(
    entries: Iterable<Entry>,
    { Limit: limit = Number.POSITIVE_INFINITY }: ScanCommandInput,
    { placeholders, filter, paths }: Choice,
    table: Table,
    source: Source,
  ) {
    if (limit < 1)
      throw validationError(
        'Value at Limit failed to satisfy constraint: Member must have value greater than or equal to 1',
      );
    const read: Entry[] = [];
    let size = 0;
    for (const entry of entries) {
      read.push(entry);
      size += entry.size;
      if (read.length >= limit || size >= largestPage) break;
    }
    const matching = filter ? read.filter(({ item }) => holds(filter, item, placeholders)) : read;
    const last = read.length >= limit || size >= largestPage ? read.at(-1) : undefined; // whether or not more follow
    return {
      $metadata: metadataOf(200),
      Items: matching.map(({ item }) => translation.native(paths ? project(item, paths) : item)),
      Count: matching.length,
      ScannedCount: read.length,
      ...(last && { LastEvaluatedKey: translation.native(keyOf(last.item, table, source)) }),
    };
  }
}

/** Which items are wanted, and what of them. */
interface Choice {
  readonly placeholders: Placeholders;
  readonly filter: Condition | undefined;
  readonly paths: readonly Path[] | undefined;
}

/** In bytes. */
const largestPage = 1_024 * 1_024;

const scanOptions = new Set([
  'TableName',
  'IndexName',
  'ConsistentRead',
  'FilterExpression',
  'ProjectionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ExclusiveStartKey',
  'Limit',
]);
const queryOptions = new Set([...scanOptions, 'KeyConditionExpression', 'ScanIndexForward']);

function stretchOf(entries: readonly Entry[], range: Bounds | undefined): readonly Entry[] {
  if (!range) return entries;
  const isReached = ({ order: [text = ''] }: Entry) => !range.isBelow(text);
  const isPassed = ({ order: [text = ''] }: Entry) => range.isAbove(text);
  return entries.slice(firstWhere(entries, isReached), firstWhere(entries, isPassed));
}

function* remaining(entries: readonly Entry[], isForward: boolean, start: Place | undefined): Generator<Entry> {
  if (isForward) {
    const first = start ? firstWhere(entries, entry => compareOrders(entry.order, start.order) > 0) : 0;
    yield* entries.slice(first);
    return;
  }
  const end = start ? firstWhere(entries, entry => compareOrders(entry.order, start.order) >= 0) : entries.length;
  yield* entries.slice(0, end).reverse();
}

function keyOf(item: Attributes, table: Table, source: Source): Attributes {
  const names = [...table.key.attributes, ...source.key.attributes].map(({ name }) => name);
  return project(
    item,
    [...new Set(names)].map(name => [name]),
  );
}

function checkProjected(attributes: readonly string[], { index, projected }: Source): void {
  const missing = projected && attributes.filter(name => !projected.has(name));
  if (!missing || missing.length === 0) return;
  throw validationError(
    `One or more parameter values were invalid: Global secondary index ${index} does not project [${missing.join(', ')}]`,
  );
}

function checkNoKey(attributes: readonly string[], { key }: Source): void {
  const found = key.attributes.find(({ name }) => attributes.includes(name));
  if (!found) return;
  throw validationError(
    `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${found.name}`,
  );
}

function startInvalid(): Error {
  return validationError('The provided starting key is invalid');
}
