import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import type { TablesCommand } from '../../src/dynamodb/tables.ts';

type Operation = TablesCommand<object>;

/** Makes commands about few items, so that they meet. */
export function randomOperations(): fc.Arbitrary<Operation[]> {
  const TableName = 'Things';
  const simple = 'Simple';
  const put = fc
    .tuple(item, fc.option(condition, { nil: {}, freq: 2 }))
    .map(([Item, when]) => new PutCommand({ TableName, Item, ...when }));
  const putOld = item.map(Item => new PutCommand({ TableName, Item, ReturnValues: 'ALL_OLD' }));
  const get = key.map(Key => new GetCommand({ TableName, Key, ConsistentRead: true }));
  const getParts = key.map(
    Key =>
      new GetCommand({
        TableName,
        Key,
        ProjectionExpression: '#c, parts[1], parts[0], box.#c, place',
        ExpressionAttributeNames: { '#c': 'count' },
      }),
  );
  const remove = fc
    .tuple(key, fc.option(condition, { nil: {}, freq: 2 }), returnsOld)
    .map(([Key, when, ReturnValues]) => new DeleteCommand({ TableName, Key, ...when, ReturnValues }));
  const update = fc
    .tuple(key, change, fc.option(condition, { nil: undefined, freq: 2 }), returns)
    .map(([Key, [UpdateExpression, names, values], when, ReturnValues]) => {
      const ExpressionAttributeNames = { ...names, ...when?.ExpressionAttributeNames };
      const ExpressionAttributeValues = { ...values, ...when?.ExpressionAttributeValues };
      const placeholders = {
        ...(Object.keys(ExpressionAttributeNames).length > 0 && { ExpressionAttributeNames }),
        ...(Object.keys(ExpressionAttributeValues).length > 0 && { ExpressionAttributeValues }),
      };
      const ConditionExpression = when?.ConditionExpression;
      return new UpdateCommand({
        TableName,
        Key,
        UpdateExpression,
        ConditionExpression,
        ReturnValues,
        ...placeholders,
      });
    });
  const query = fc
    .tuple(stretch, fc.boolean(), fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }))
    .map(([asked, ScanIndexForward, Limit]) => new QueryCommand({ TableName, ...asked, ScanIndexForward, Limit }));
  const scan = fc
    .constantFrom({}, { IndexName: 'byTitle' }, { IndexName: 'byId' }, filtered)
    .map(options => new ScanCommand({ TableName, ...options }));
  const batchGet = fc
    .tuple(fc.array(key, { maxLength: 5 }), fc.array(fc.record({ id }), { minLength: 1, maxLength: 3 }))
    .map(([keys, others]) => {
      const RequestItems = { ...(keys.length > 0 && { [TableName]: { Keys: keys } }), [simple]: { Keys: others } };
      return new BatchGetCommand({ RequestItems });
    });
  const batchWrite = fc.array(fc.oneof(fc.record({ id, note: value }), id), { minLength: 1, maxLength: 4 }).map(
    writes =>
      new BatchWriteCommand({
        RequestItems: {
          [simple]: writes.map(each =>
            typeof each === 'string' ? { DeleteRequest: { Key: { id: each } } } : { PutRequest: { Item: each } },
          ),
        },
      }),
  );
  const writes = fc.oneof({ weight: 4, arbitrary: put }, putOld, { weight: 6, arbitrary: update }, remove, batchWrite);
  const reads = fc.oneof(get, getParts, { weight: 4, arbitrary: query }, scan, batchGet);
  const begun = fc.array(putOld, { minLength: 10, maxLength: 10 });
  const others = fc.array<Operation>(fc.oneof<fc.Arbitrary<Operation>[]>(writes, reads), {
    minLength: 20,
    maxLength: 80,
  });
  return fc.tuple(begun, others).map(operations => operations.flat());
}

/** Some have places of their own among the units of UTF-16, one is empty. */
const id = fc.oneof({ weight: 40, arbitrary: fc.constantFrom('a', 'b', 'é', '\ufb01', '\u{1f600}') }, fc.constant(''));
const text = fc.constantFrom('', 'a', 'ab', 'abc', 'b', '\ufb01', '\u{1f600}', '\ud7ff');
/** Without the empty one: dynalite stores it as the key of an index, where DynamoDB refuses the item. */
const title = text.filter(each => each !== '');
const number = fc.oneof(
  fc.integer({ min: -3, max: 12 }),
  fc.constantFrom(0.1, 0.2, 1.5, -0.25, 123456789012345, 1e-7, 1700000000000.125),
);
const room = fc.constantFrom(-2, 0, 0.1, 1.5, 10);
const key = fc.record({ id, place: room });
const value = fc.oneof(
  text,
  number,
  fc.boolean(),
  fc.constant(null),
  fc.constant(Uint8Array.of(0, 255, 7)),
  fc.array(number, { maxLength: 3 }),
  fc.record({ count: number, inner: fc.record({ note: text }) }),
);
const owner = fc.constantFrom('x', 'y');
const item = fc.record(
  {
    id,
    place: room,
    owner,
    rank: fc.oneof({ weight: 12, arbitrary: number }, text),
    title,
    count: number,
    note: value,
    parts: fc.array(value, { maxLength: 4 }),
    box: value,
  },
  { requiredKeys: ['id', 'place'] },
);
const returnsOld = fc.constantFrom('NONE' as const, 'ALL_OLD' as const);
const returns = fc.constantFrom('NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW' as const);
const count = { '#c': 'count' };
const place = fc.integer({ min: 0, max: 5 });

type Placeholders = Record<string, unknown>;
type Change = readonly [expression: string, names: Record<string, string>, values: Placeholders];

const change: fc.Arbitrary<Change> = fc.oneof(
  number.map((n): Change => ['SET #c = if_not_exists(#c, :zero) + :n', count, { ':zero': 0, ':n': n }]),
  number.map((n): Change => ['SET #c = #c - :n, note = #c', count, { ':n': n }]),
  value.map(
    (v): Change => ['set parts = list_append(if_not_exists(parts, :none), :v)', {}, { ':none': [], ':v': [v] }],
  ),
  fc.tuple(place, value).map(([at, v]): Change => [`SET parts[${at}] = :v REMOVE note`, {}, { ':v': v }]),
  place.map((at): Change => [`REMOVE parts[${at}]`, {}, {}]),
  value.map((v): Change => ['SET box.#c = :v', count, { ':v': v }]),
  fc.constant<Change>(['REMOVE box.inner.note', {}, {}]),
  fc
    .tuple(owner, number)
    .map(([o, r]): Change => ['SET #o = :o, #r = :r', { '#o': 'owner', '#r': 'rank' }, { ':o': o, ':r': r }]),
  title.map((t): Change => ['SET title = :t', {}, { ':t': t }]),
  fc.constant<Change>(['REMOVE title, #r', { '#r': 'rank' }, {}]),
  fc.constant<Change>(['SET id = :v', {}, { ':v': 'a' }]),
  fc.constant<Change>(['SET box = :v, box.#c = :v', count, { ':v': 1 }]),
  fc.constant<Change>(['SET note = parts[0] REMOVE parts[0]', {}, {}]),
);

/** Values without an order are compared for equality alone: dynalite takes others, where DynamoDB refuses the request. */
const condition = fc
  .oneof(
    fc.tuple(
      fc.constantFrom(
        'attribute_exists(id)',
        'attribute_not_exists(id)',
        'attribute_not_exists(parts[1])',
        '#c = :v',
        '#c <> :v',
        '#c IN (:v)', // an attribute that is missing in the list ends dynalite's process
        'parts = :v',
        'box.#c = :v',
      ),
      value,
    ),
    fc.tuple(
      fc.constantFrom(
        'note < :v',
        '#c >= :v AND note <> :v',
        'NOT #c <= :v OR attribute_exists(box.#c)',
        '(note = :v or title = :v) AND (attribute_exists(owner) OR NOT (#c > :v))',
        'note BETWEEN :v AND :v',
        'title > note',
      ),
      fc.oneof(text, number),
    ),
    fc.tuple(fc.constantFrom('begins_with(title, :v)'), text),
  )
  .map(([ConditionExpression, v]) => ({
    ConditionExpression,
    ...(ConditionExpression.includes('#c') && { ExpressionAttributeNames: count }),
    ...(ConditionExpression.includes(':v') && { ExpressionAttributeValues: { ':v': v } }),
  }));

const filtered = { FilterExpression: 'attribute_exists(#c)', ExpressionAttributeNames: count };

const stretch = fc.oneof(
  fc.tuple(id, number, comparison()).map(([i, n, operator]) => ({
    KeyConditionExpression: `id = :i AND place ${operator} :n`,
    ExpressionAttributeValues: { ':i': i, ':n': n },
  })),
  id.map(i => ({ KeyConditionExpression: 'id = :i', ExpressionAttributeValues: { ':i': i } })),
  fc.tuple(id, number).map(([i, n]) => ({
    KeyConditionExpression: 'id = :i AND place BETWEEN :n AND :m',
    ExpressionAttributeValues: { ':i': i, ':n': n, ':m': n + 3 },
  })),
  fc.tuple(owner, number, comparison()).map(([o, n, operator]) => ({
    IndexName: 'byRank',
    KeyConditionExpression: `#o = :o AND #r ${operator} :n`,
    ExpressionAttributeNames: { '#o': 'owner', '#r': 'rank' },
    ExpressionAttributeValues: { ':o': o, ':n': n },
  })),
  fc.tuple(owner, text).map(([o, t]) => ({
    IndexName: 'byTitle',
    KeyConditionExpression: '#o = :o AND begins_with(title, :t)',
    ExpressionAttributeNames: { '#o': 'owner' },
    ExpressionAttributeValues: { ':o': o, ':t': t },
  })),
  fc.tuple(owner, text, comparison()).map(([o, t, operator]) => ({
    IndexName: 'byTitle',
    KeyConditionExpression: `#o = :o AND title ${operator} :t`,
    FilterExpression: 'attribute_exists(#c)',
    ExpressionAttributeNames: { '#o': 'owner', ...count },
    ExpressionAttributeValues: { ':o': o, ':t': t },
  })),
);

function comparison() {
  return fc.constantFrom('=', '<', '<=', '>', '>=');
}
