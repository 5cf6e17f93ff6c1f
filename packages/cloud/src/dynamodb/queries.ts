import type { QueryCommandInput, ScanCommandInput } from '@aws-sdk/client-dynamodb';
import { firstIndexWhere } from '../sorted.ts';
import { type Attributes, sortText } from './attribute-values.ts';
import { meetsCondition, readKeyCondition } from './conditions.ts';
import { checkOptions, validationError } from './errors.ts';
import { checkKey } from './keys.ts';
import { makeReader, type Placeholders, placeholdersOf } from './reader.ts';
import { compareOrders, type Entry } from './sorted-items.ts';
import type { Source, Table } from './table.ts';

/** Creates `Query` and `Scan`, which return items in pages. */
export function makeQueries(tableOf: (name: string | undefined) => Table) {
  return { query, scan };

  function query(request: QueryCommandInput): object {
    checkOptions(request, [...readOptions, 'IndexName', 'KeyConditionExpression', 'ScanIndexForward']);
    const { KeyConditionExpression: condition = '', ScanIndexForward: isForward = true } = request;
    const source = tableOf(request.TableName).source(request.IndexName, request.ConsistentRead);
    const { hash, compare } = readKeyCondition(condition, source.key, placeholdersOf(request));
    const partition = sortText(hash);
    const start = startOf(request, source);
    if (start && start[0] !== partition) throw invalidStartKey();
    const entries = source.items.partition(partition);
    const compareEntry = ({ order: [, sortKey = ''] }: Entry) => compare(sortKey);
    const isAfter = (entry: Entry) => !start || compareOrders(entry.order, start) > 0;
    const isNotBefore = (entry: Entry) => !!start && compareOrders(entry.order, start) >= 0;
    const first = firstIndexWhere(entries, entry => compareEntry(entry) >= 0 && (!isForward || isAfter(entry)));
    const end = firstIndexWhere(entries, entry => compareEntry(entry) > 0 || (!isForward && isNotBefore(entry)));
    const range = entries.slice(first, end);
    return pageOf(isForward ? range : range.reverse(), request, source);
  }

  function scan(request: ScanCommandInput): object {
    checkOptions(request, [...readOptions, 'IndexName', 'FilterExpression', 'ProjectionExpression']);
    const { FilterExpression: filter } = request;
    const source = tableOf(request.TableName).source(request.IndexName);
    const start = startOf(request, source);
    const entries = source.items.all().filter(({ order }) => !start || compareOrders(order, start) > 0);
    const placeholders = placeholdersOf(request);
    const isMatch = (item: Attributes) => filter === undefined || meetsCondition(filter, item, placeholders);
    const names = namesIn(request.ProjectionExpression, placeholders);
    if (request.IndexName !== undefined && names?.some(name => !source.names.includes(name)))
      throw validationError(`The index ${request.IndexName} does not project ${names.join(', ')}`);
    return pageOf(entries, request, source, isMatch, names && (item => partOf(item, names)));
  }

  function startOf({ ExclusiveStartKey: start }: ScanCommandInput, source: Source): Entry['order'] | undefined {
    if (!start) return undefined;
    if (Object.keys(start).length !== source.names.length || source.names.some(name => !start[name])) {
      throw invalidStartKey();
    }
    checkKey(source.key, start);
    return source.items.orderOf(start);
  }

  /** Returns the first page of the entries, after filtering and projection. */
  function pageOf(
    entries: readonly Entry[],
    { Limit: limit = Number.POSITIVE_INFINITY }: ScanCommandInput,
    { names }: Source,
    isMatch: (item: Attributes) => boolean = () => true,
    project = (item: Attributes) => item,
  ) {
    if (limit < 1) throw validationError('Limit must have value greater than or equal to 1');
    const matching: Attributes[] = [];
    let read = 0;
    let size = 0;
    let last: Attributes | undefined;
    for (const { item, size: itemSize } of entries) {
      read += 1;
      size += itemSize;
      if (isMatch(item)) matching.push(item);
      const isFull = size >= maxPageSize && read < entries.length;
      if (read < limit && !isFull) continue; // DynamoDB ends a page at the limit, even if no items follow
      last = item;
      break;
    }
    return {
      Items: matching.map(project),
      Count: matching.length,
      ScannedCount: read,
      ...(last && { LastEvaluatedKey: partOf(last, names) }),
    };
  }
}

/** Returns the attributes that a projection selects. */
function namesIn(expression: string | undefined, placeholders: Placeholders) {
  if (expression === undefined) return undefined;
  const reader = makeReader(expression, placeholders);
  const names = [reader.name()];
  while (reader.accept(',')) names.push(reader.name());
  if (!reader.isAtEnd()) reader.fail();
  return names;
}

function partOf(item: Attributes, names: readonly string[]): Attributes {
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)));
}

/** The maximum size of a page in bytes. */
const maxPageSize = 1_024 * 1_024;

const readOptions = [
  'TableName',
  'ConsistentRead',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ExclusiveStartKey',
  'Limit',
];

function invalidStartKey(): Error {
  return validationError('The provided starting key is invalid');
}
