import type { QueryCommandInput, ScanCommandInput } from '@aws-sdk/client-dynamodb';
import { firstWhere } from '../sorted.ts';
import { type Attributes, sortText } from './attribute-values.ts';
import { holds, readKeyCondition } from './conditions.ts';
import { checkKey } from './keys.ts';
import { makeReader, type Placeholders, placeholdersOf } from './reader.ts';
import { checkOptions, validationError } from './refusals.ts';
import { compareOrders, type Entry } from './sorted-items.ts';
import type { Source, Table } from './table.ts';

/** Creates `Query` and `Scan`, which return items in pages. */
export function makeQueries(tableOf: (name: string | undefined) => Table) {
  return { query, scan };

  function query(request: QueryCommandInput): object {
    checkOptions(request, [...readOptions, 'IndexName', 'KeyConditionExpression', 'ScanIndexForward']);
    const { KeyConditionExpression: condition = '', ScanIndexForward: isForward = true } = request;
    const source = tableOf(request.TableName).source(request.IndexName, request.ConsistentRead);
    const { hash, side } = readKeyCondition(condition, source.key, placeholdersOf(request));
    const partition = sortText(hash);
    const start = startOf(request, source);
    if (start && start[0] !== partition) throw startInvalid();
    const entries = source.items.partition(partition);
    const sideOf = ({ order: [, sortKey = ''] }: Entry) => side(sortKey);
    const isAfter = (entry: Entry) => !start || compareOrders(entry.order, start) > 0;
    const isNotBefore = (entry: Entry) => !!start && compareOrders(entry.order, start) >= 0;
    const first = firstWhere(entries, entry => sideOf(entry) >= 0 && (!isForward || isAfter(entry)));
    const end = firstWhere(entries, entry => sideOf(entry) > 0 || (!isForward && isNotBefore(entry)));
    const range = entries.slice(first, end);
    return pageOf(isForward ? range : range.reverse(), request, source);
  }

  function scan(request: ScanCommandInput): object {
    checkOptions(request, [...readOptions, 'IndexName', 'FilterExpression', 'ProjectionExpression']);
    const { FilterExpression: filter } = request;
    const source = tableOf(request.TableName).source(request.IndexName);
    const start = startOf(request, source);
    const entries = source.items.all().filter(({ order }) => !start || compareOrders(order, start) > 0);
    const bound = placeholdersOf(request);
    const isWanted = (item: Attributes) => filter === undefined || holds(filter, item, bound);
    const names = namesIn(request.ProjectionExpression, bound);
    if (request.IndexName !== undefined && names?.some(name => !source.names.includes(name)))
      throw validationError(`The index ${request.IndexName} does not project ${names.join(', ')}`);
    return pageOf(entries, request, source, isWanted, names && (item => partOf(item, names)));
  }

  function startOf({ ExclusiveStartKey: start }: ScanCommandInput, source: Source): Entry['order'] | undefined {
    if (!start) return undefined;
    if (Object.keys(start).length !== source.names.length || source.names.some(name => !start[name])) {
      throw startInvalid();
    }
    checkKey(source.key, start);
    return source.items.orderOf(start);
  }

  /** Returns a page of entries, filtered and projected. The page starts at the first entry. */
  function pageOf(
    entries: readonly Entry[],
    { Limit: limit = Number.POSITIVE_INFINITY }: ScanCommandInput,
    { names }: Source,
    isWanted: (item: Attributes) => boolean = () => true,
    project = (item: Attributes) => item,
  ) {
    if (limit < 1) throw validationError('Limit must have value greater than or equal to 1');
    const matching: Attributes[] = [];
    let read = 0;
    let size = 0;
    let last: Attributes | undefined;
    for (const { item, size: own } of entries) {
      read += 1;
      size += own;
      if (isWanted(item)) matching.push(item);
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
  const read = makeReader(expression, placeholders);
  const names = [read.name()];
  while (read.takes(',')) names.push(read.name());
  if (!read.isOver()) read.fail();
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

function startInvalid(): Error {
  return validationError('The provided starting key is invalid');
}
