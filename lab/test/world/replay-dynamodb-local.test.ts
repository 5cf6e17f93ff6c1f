import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  BatchWriteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { makeTables, type TablesCommand } from '@emissor/cloud/dynamodb/tables';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDynamoDbLocal, teardown } from '../../../test/support/database/dynamodb-local.ts';
import { makeTokenWorld } from '../../world/auth/make-token-world.ts';
import { startUsers } from '../../world/auth/people/start-users.ts';
import { faultTime } from '../../world/fault-classes.ts';
import { makeWorld } from '../../world/make-world.ts';
import { minute } from '../../world/times.ts';
import { definitions, type Executed, outcomeOf, reasonsOf, replay } from './replay.ts';

const worlds = 20;
const TableName = 'Keyring';
const table = 'Deliveries';
const Key = { kind: 'k', generation: 1 };
const get = new GetCommand({ TableName, Key });
const scan = new ScanCommand({ TableName });
const backwards = { ScanIndexForward: false };
let endpoint = '';

beforeAll(async () => {
  endpoint = await startDynamoDbLocal();
}, 300_000); // the first run downloads DynamoDB Local

afterAll(teardown);

test('DynamoDB Local returns the same responses as the virtual tables.', { timeout: 900_000 }, async () => {
  // Replays start after all worlds have ended, because a replay would slow down the worlds' event loop.
  const recorded: (readonly Executed[])[] = [];
  for (let seed = 1; seed <= worlds; seed += 1) recorded.push(await recordWorld(seed));
  const replays: ReturnType<typeof replay>[] = [];
  for (const executed of recorded) {
    replays.push(replay(executed, endpoint, `world${replays.length}`));
    await replays.at(-concurrentReplays);
  }
  const results = await Promise.all(replays);
  const sum = (of: (result: (typeof results)[number]) => number) => results.reduce((all, one) => all + of(one), 0);
  const [compared, fromIndexes, lagging, omitted] = [
    sum(one => one.compared),
    sum(one => one.fromIndexes),
    sum(one => one.lagging),
    sum(one => one.omitted),
  ];
  console.log(
    `${worlds} worlds: compared ${compared} responses, ${fromIndexes} of them from indexes (${lagging} lagged). Omitted ${omitted} pages of scans.`,
  );
  expect(results.flatMap(({ differences }) => differences).slice(0, 3)).toEqual([]);
  expect(compared).toBeGreaterThan(worlds * 1_000);
  expect(lagging).toBeLessThan(fromIndexes / 10); // the recorded response of a lagging index is not compared
});

const concurrentReplays = 4;

/** Runs a token world for an even seed, or a delivery world, with all faults. Returns the commands that its tables executed. */
async function recordWorld(seed: number): Promise<readonly Executed[]> {
  const isTokenWorld = seed % 2 === 0;
  const world = isTokenWorld ? makeTokenWorld(seed, 'all') : makeWorld(seed, 'all');
  const executed = record(world.watched);
  try {
    const startedAt = await world.start();
    if ('actions' in world) startUsers(world, startedAt);
    await world.cloud.run(startedAt + faultTime);
    world.cloud.endFaults();
    await world.cloud.run(startedAt + 75 * minute);
  } finally {
    world.end();
  }
  return executed;
}

/** Records the commands that tables execute from now on. A partly rejected batch is recorded without its rejected part. */
function record(tables: { readonly execute: (command: TablesCommand<object>) => object }): readonly Executed[] {
  const executed: Executed[] = [];
  const { execute } = tables;
  const recording = (command: TablesCommand<object>): object => {
    try {
      const output = execute(command);
      executed.push({ command, outcome: structuredClone(output) });
      return output;
    } catch (error) {
      const outcome = error instanceof Error && { error: error.name, reasons: reasonsOf(error) };
      executed.push({ command, outcome: outcome || {} });
      throw error;
    }
  };
  Object.assign(tables, { execute: recording });
  return executed;
}

const threeHeads = [...'cab'].map(id => head(id, `x${id}`));

test.each<readonly [string, readonly TablesCommand<object>[]]>([
  ['sums', [put({ n: 1 }), update('SET n = n + :v', -3), get]],
  ['numbers', [0, -0, 120, -7, 2 ** 53 - 1, 1 - 2 ** 53].flatMap(n => [put({ n }), get, updateIf('n > :w', 100)])],
  ['removed attributes', [put({ l: [0, 1, 2] }), update('REMOVE l, n'), get]],
  ['functions', [put({ n: 1 }), update('SET n = if_not_exists(n, :v), m = if_not_exists(m, :v)', ['x']), get]],
  ['overlaps', [put({ m: {} }), update('SET m = :v, m = :v', 1), update('SET generation = :v', 5)]],
  ['operands', [put({ s: 'a' }), update('SET n = m + :v', 1), update('SET n = s + :v', 1)]],
  ['strings', ['a', '\ufb01', '\u{1f600}', '\ud7ff'].flatMap(s => [put({ s }), updateIf('s < :w', '\ufb02')])],
  [
    'types',
    [put({ s: 'a' }), updateIf('s < :w', 5), updateIf('s <> :w', 5), updateIf('n <> :w', 5), updateIf('n < :w', 5)],
  ],
  [
    'values without an order',
    [put({ s: null }), updateIf('s < :w', null), updateIf('s = :w', null), updateIf('s > :w', 'a')],
  ],
  [
    'logic',
    [put({ s: 'a' }), ...['s = :w OR n = :w AND s > :w', '(s = :w OR n = :w) AND s > :w'].map(c => updateIf(c, 'a'))],
  ],
  ['paths', [put({ m: { a: [1, { b: 'x' }] } }), updateIf('m.a[1].b = :w AND m.a[1] <> :w', 'x')]],
  ['equality', [put({ m: { a: 1, b: [2] } }), updateIf('m = :w', { b: [2], a: 1 })]],
  ['bytes', [put({ b: Uint8Array.of(1, 200) }), updateIf('b > :w', Uint8Array.of(1)), get]],
  ['return values', (['ALL_OLD', 'ALL_NEW', 'NONE'] as const).map(returned => update('SET n = :v', 1, returned))],
  [
    'keys',
    [put({ kind: '' }), put({ kind: 'é'.repeat(1_025) }), put({ generation: 'x' }), put({ generation: undefined })],
  ],
  ['sizes', [put({ s: 'x'.repeat(409_580) }), put({ s: 'x'.repeat(409_582) }), put({ l: Array(9_000).fill(-125) })]],
  [
    'pages',
    [...Array(6).keys()].flatMap(n => [
      put({ generation: n, s: 'x'.repeat(300_000) }),
      query({ ConsistentRead: true }),
    ]),
  ],
  [
    'key ranges',
    [...[5, -1, 10, 0].map(n => put({ generation: n })), ...['<= :n', '= :n', 'BETWEEN :n AND :n'].map(queryRange)],
  ],
  ['an index', [...threeHeads, due(), due({ Limit: 2 }), due(backwards), due({ Limit: 3 })]],
  ['a start key', [...threeHeads, due({ ExclusiveStartKey: head('a', 'xa').input.Item, ...backwards })]],
  [
    'a wrong start key',
    [due({ ExclusiveStartKey: { id: 'a' } }), due({ ConsistentRead: true }), due({ IndexName: 'no' })],
  ],
  ['an index key', [head('a', ''), head('a', 'x'), head('a', 5)]],
  [
    'batches',
    [batchWrite('a', 'b'), batchWrite('b', ''), batchGet('a', 'b', 'c'), batchGet('a', 'a'), batchWrite('a', 'a')],
  ],
  ['statements', [insert('a', 'b'), insert('b', 'c'), batchGet('a', 'b', 'c'), insert('a', 'a'), insert('a', '')]],
  ['transactions', [transact(...[1, 2, 3].map(insertItem)), transact(increment(1), remove(2), insertItem(4)), scan]],
  [
    'a cancelled transaction',
    [transact(...[1, 2].map(insertItem)), transact(insertItem(3), insertItem(1), remove(2)), scan],
  ],
  [
    'a transaction that breaks a rule',
    [
      transact(),
      transact({}),
      transact(insertItem(1), remove(1)),
      transact(...[...Array(101).keys()].map(insertItem)),
      transact(insertItem(1), increment(2)),
      transact(insertItem(1), { Put: { TableName, Item: { ...Key, generation: 2, s: 'x'.repeat(409_600) } } }),
      scan,
    ],
  ],
  ['a repeated transaction', [...[1, 1, 2].map(n => once(insertItem(n))), transact(insertItem(1)), scan]],
  [
    'scans',
    [put({}), put({ kind: 'b', n: 1 }), new ScanCommand({ TableName, FilterExpression: 'attribute_exists(n)' })],
  ],
  ['scans of an index', [...threeHeads, scanDue('dueAt'), scanDue('id, dueShard'), scanDue('id, absent')]],
  ['unused placeholders', [put({}), update('REMOVE n', 1), query({ ExpressionAttributeNames: { '#n': 'n' } })]],
])('DynamoDB Local returns the same responses: %s', async (name, commands) => {
  const { execute } = makeTables({ definitions, now: () => 0 });
  const executed: Executed[] = [];
  for (const command of commands) executed.push({ command, outcome: await outcomeOf(() => execute(command)) });
  const { differences, lagging } = await replay(executed, endpoint, name.replaceAll(/\W/g, ''));
  expect({ differences, lagging }).toEqual({ differences: [], lagging: 0 });
});

test('A replay reports a wrong digit.', async () => {
  const right = { Item: { kind: 'k', generation: { N: '1' }, n: { N: '11' } } };
  const wrong = { Item: { ...right.Item, n: { N: '12' } } };
  const putCall = { command: put({ n: 11 }), outcome: {} };
  const { differences } = await replay(
    [putCall, { command: get, outcome: right }, { command: get, outcome: wrong }],
    endpoint,
    'digit',
  );
  expect(differences).toHaveLength(1);
  expect(differences).toMatchObject([{ virtual: wrong, real: right }]);
});

test('A replay counts the response of a lagging index as lagging.', async () => {
  const { execute } = makeTables({ definitions, now: () => 0, lag: () => 100 });
  const consistentGet = new GetCommand({ TableName: table, Key: { id: 'a', part: 'head' }, ConsistentRead: true });
  const commands: readonly TablesCommand<object>[] = [head('a', 'xa'), due(), consistentGet];
  const executed = commands.map(command => ({ command, outcome: execute(command) }));
  expect(await replay(executed, endpoint, 'lagging')).toMatchObject({
    compared: 3,
    fromIndexes: 1,
    lagging: 1,
    differences: [],
  });
});

function put(item: object): PutCommand {
  return new PutCommand({ TableName, Item: { ...Key, ...item }, ReturnValues: 'ALL_OLD' });
}

function update(
  UpdateExpression: string,
  v?: unknown,
  ReturnValues?: UpdateCommandInput['ReturnValues'],
): UpdateCommand {
  const values = v === undefined ? {} : { ExpressionAttributeValues: { ':v': v } };
  return new UpdateCommand({ TableName, Key, UpdateExpression, ReturnValues, ...values });
}

function updateIf(ConditionExpression: string, w: unknown): UpdateCommand {
  const ExpressionAttributeValues = { ':v': 1, ':w': w };
  return new UpdateCommand({
    TableName,
    Key,
    UpdateExpression: 'SET x = :v',
    ConditionExpression,
    ExpressionAttributeValues,
  });
}

function transact(...TransactItems: readonly Operation[]): TransactWriteCommand {
  return new TransactWriteCommand({ TransactItems: [...TransactItems] });
}

function once(operation: Operation): TransactWriteCommand {
  return new TransactWriteCommand({ TransactItems: [operation], ClientRequestToken: 'token' });
}

function insertItem(generation: number): Operation {
  const ConditionExpression = 'attribute_not_exists(generation)';
  return { Put: { TableName, Item: { ...Key, generation }, ConditionExpression } };
}

function increment(generation: number): Operation {
  const [UpdateExpression, ExpressionAttributeValues] = ['SET n = generation + :v', { ':v': 1 }];
  return { Update: { TableName, Key: { ...Key, generation }, UpdateExpression, ExpressionAttributeValues } };
}

function remove(generation: number): Operation {
  return { Delete: { TableName, Key: { ...Key, generation }, ConditionExpression: 'attribute_not_exists(n)' } };
}

function query(options: object, ...bounds: unknown[]): QueryCommand {
  const [KeyConditionExpression = 'kind = :k', ...values] = bounds;
  return new QueryCommand({
    TableName,
    KeyConditionExpression: String(KeyConditionExpression),
    ExpressionAttributeValues: { ':k': 'k', ...(values.length > 0 && { ':n': values[0] }) },
    ...options,
  });
}

function queryRange(test: string): QueryCommand {
  return query({}, `kind = :k AND generation ${test}`, 5);
}

function head(id: string, dueAt: unknown): PutCommand {
  return new PutCommand({ TableName: table, Item: { id, part: 'head', dueShard: 's', dueAt } });
}

function due(options: object = {}): QueryCommand {
  return new QueryCommand({
    TableName: table,
    IndexName: 'due',
    KeyConditionExpression: 'dueShard = :s AND dueAt BETWEEN :x AND :y',
    ExpressionAttributeValues: { ':s': 's', ':x': 'x', ':y': 'y' },
    ...options,
  });
}

function batchGet(...ids: readonly string[]): BatchGetCommand {
  return new BatchGetCommand({ RequestItems: { [table]: { Keys: ids.map(id => ({ id, part: 'head' })) } } });
}

function batchWrite(removed: string, stored: string): BatchWriteCommand {
  const Item = { id: stored, part: 'head' };
  const writes = [{ DeleteRequest: { Key: { id: removed, part: 'head' } } }, { PutRequest: { Item } }];
  return new BatchWriteCommand({ RequestItems: { [table]: writes } });
}

function scanDue(ProjectionExpression: string): ScanCommand {
  return new ScanCommand({ TableName: table, IndexName: 'due', ProjectionExpression });
}

function insert(...ids: readonly string[]): BatchExecuteStatementCommand {
  const Statement = `INSERT INTO "${table}" VALUE {'id':?,'part':?}`;
  return new BatchExecuteStatementCommand({ Statements: ids.map(id => ({ Statement, Parameters: [id, 'head'] })) });
}

type Operation = NonNullable<TransactWriteCommandInput['TransactItems']>[number];
