import type { QueryCommandInput, ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import { firstWhere } from '../sorted.ts';
import { type Attributes, type Placeholders, sortText, type Translation } from './attribute-values.ts';
import { holds, readKeyCondition } from './conditions.ts';
import { checkKey } from './keys.ts';
import { makeReader } from './reader.ts';
import { checkOptions, notKnown, validationError } from './refusals.ts';
import { compareOrders, compareScanned, type Entry } from './sorted-items.ts';
import type { Source, Table } from './table.ts';

/** Makes the operations that read many items, in pages. */
export function makeQueries(
  tableOf: (name: string | undefined) => Table,
  { attributes, native, placeholders }: Translation,
) {
  return { query, scan };

  function query(request: QueryCommandInput): object {
    checkOptions(request, [...readOptions, 'IndexName', 'KeyConditionExpression', 'ScanIndexForward']);
    const { KeyConditionExpression: condition = '', ScanIndexForward: isForward = true } = request;
    const source = tableOf(request.TableName).source(request.IndexName, request.ConsistentRead);
    const { hash, side } = readKeyCondition(condition, source.key, placeholders(request));
    const partition = sortText(hash);
    const start = startOf(request, source);
    if (start && start[0] !== partition) throw startInvalid();
    const entries = source.items().partition(partition);
    const sideOf = ({ order: [, place = ''] }: Entry) => side(place);
    const isAfter = (entry: Entry) => !start || compareOrders(entry.order, start) > 0;
    const isNotBefore = (entry: Entry) => !!start && compareOrders(entry.order, start) >= 0;
    const first = firstWhere(entries, entry => sideOf(entry) >= 0 && (!isForward || isAfter(entry)));
    const end = firstWhere(entries, entry => sideOf(entry) > 0 || (!isForward && isNotBefore(entry)));
    const stretch = entries.slice(first, end);
    return pageOf(isForward ? stretch : stretch.reverse(), request, source);
  }

  function scan(request: ScanCommandInput): object {
    checkOptions(request, [...readOptions, 'IndexName', 'FilterExpression', 'ProjectionExpression']);
    const { FilterExpression: filter } = request;
    const source = tableOf(request.TableName).source(request.IndexName);
    const start = startOf(request, source);
    const entries = source
      .items()
      .all()
      .filter(({ order }) => !start || compareScanned(order, start) > 0);
    const bound = placeholders(request);
    const isWanted = (item: Attributes) => filter === undefined || holds(filter, item, bound);
    return pageOf(entries, request, source, isWanted, projectionOf(request.ProjectionExpression, bound));
  }

  function startOf({ ExclusiveStartKey: given }: ScanCommandInput, source: Source): Entry['order'] | undefined {
    if (!given) return undefined;
    const start = attributes(given);
    if (Object.keys(start).length !== source.names.length || source.names.some(name => !start[name])) {
      throw startInvalid();
    }
    checkKey(source.key, start);
    return source.items().orderOf(start);
  }

  /** Returns a page from the first of these entries on, with what is wanted of it. */
  function pageOf(
    entries: readonly Entry[],
    { Limit: limit = Number.POSITIVE_INFINITY }: ScanCommandInput,
    { names }: Source,
    isWanted: (item: Attributes) => boolean = () => true,
    project = (item: Attributes) => item,
  ) {
    if (limit < 1) throw validationError('Limit must have value greater than or equal to 1');
    const found: Attributes[] = [];
    let read = 0;
    let size = 0;
    let last: Attributes | undefined;
    for (const { item, size: own } of entries) {
      read += 1;
      size += own;
      if (isWanted(item)) found.push(item);
      const isFull = size >= largestPage && read < entries.length;
      if (read < limit && !isFull) continue; // a limit that is reached ends a page whether or not more follow
      last = item;
      break;
    }
    const key = last && Object.entries(native(last)).filter(([name]) => names.includes(name));
    return {
      Items: found.map(item => native(project(item))),
      Count: found.length,
      ScannedCount: read,
      ...(key && { LastEvaluatedKey: Object.fromEntries(key) }),
    };
  }
}

/** Returns what keeps of an item the attributes that are asked for. */
function projectionOf(expression: string | undefined, placeholders: Placeholders) {
  if (expression === undefined) return undefined;
  const read = makeReader(expression, placeholders);
  const paths = [read.path()];
  while (read.takes(',')) paths.push(read.path());
  if (!read.isOver()) read.fail();
  if (paths.some(path => path.length > 1)) throw notKnown('a projection to parts of attributes');
  const isAsked = ([name]: [string, unknown]) => paths.some(([asked]) => asked === name);
  return (item: Attributes): Attributes => Object.fromEntries(Object.entries(item).filter(isAsked));
}

/** In bytes. */
const largestPage = 1_024 * 1_024;

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
