import * as z from 'zod';

/** Calls an operation of DynamoDB. Returns the status and the parsed body of its answer. */
export type CallOperation = (operation: string, input: object) => Promise<{ status: number; body: Body }>;

/** A parsed body. */
export type Body = Readonly<Record<string, unknown>>;

/** An item to insert, in DynamoDB's JSON. */
export interface Insert {
  readonly table: string;
  readonly item: Readonly<Record<string, unknown>>;
}

/**
 * Runs `BatchExecuteStatement` on an engine that has no PartiQL. It understands one statement, in one spelling:
 * `INSERT INTO "table" VALUE {'attribute':?,…}`, with a parameter for each attribute. It refuses all others by `ValidationError`. Each
 * becomes a PutItem that does not replace: an item that exists is answered by `DuplicateItem`.
 *
 * @returns the answer's status and body
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchExecuteStatement.html
 */
export async function executeStatements(input: Body, call: CallOperation): Promise<{ status: number; body: object }> {
  const statements = statementsOf(input);
  if (statements.length === 0 || statements.length > mostStatements) {
    return refused(`A batch has 1 to ${mostStatements} statements, not ${statements.length}`);
  }
  const inserts = await Promise.all(statements.map(statement => readKeyedInsert(statement, call)));
  const known = inserts.flatMap(insert => (insert && insert.keyNames.length > 0 ? identify(insert) : []));
  if (new Set(known).size < known.length) return refused('Two statements of a batch are about one item');
  const executed = await Promise.all(inserts.map(insert => put(insert, input.ReturnConsumedCapacity, call)));
  const capacities = executed.map(({ capacity }) => capacity).filter(capacity => capacity !== undefined);
  return {
    status: 200,
    body: {
      Responses: executed.map(({ answer }) => answer),
      ...(capacities.length > 0 && { ConsumedCapacity: capacities }),
    },
  };
}

/** Returns the items that a batch inserts; statements that are not understood are left out. */
export function insertsOf(input: Body): Insert[] {
  return statementsOf(input).flatMap(statement => readInsert(statement) ?? []);
}

const mostStatements = 25;

function statementsOf({ Statements: statements }: Body): readonly unknown[] {
  return Array.isArray(statements) ? statements : [];
}

function refused(message: string) {
  return { status: 400, body: { __type: 'com.amazon.coral.validate#ValidationException', message } };
}

/** An item to insert, and the names of its table's key, hash first; none where there is no such table. */
interface KeyedInsert extends Insert {
  readonly keyNames: readonly string[];
}

async function readKeyedInsert(statement: unknown, call: CallOperation): Promise<KeyedInsert | undefined> {
  const insert = readInsert(statement);
  if (!insert) return undefined;
  const described = tableSchema.safeParse((await call('DescribeTable', { TableName: insert.table })).body);
  const keySchema = described.data?.Table.KeySchema ?? [];
  return { ...insert, keyNames: keySchema.map(({ AttributeName }) => AttributeName) };
}

function readInsert(statement: unknown): Insert | undefined {
  const { Statement, Parameters: values } = statementSchema.safeParse(statement).data ?? {};
  const [, table, attributes] = /^INSERT INTO "([^"]+)" VALUE \{(.+)\}$/.exec(Statement ?? '') ?? [];
  if (table === undefined || attributes === undefined || values === undefined) return undefined;
  const names = attributes.split(',').flatMap(attribute => /^'([^']+)':\?$/.exec(attribute)?.[1] ?? []);
  const item = Object.fromEntries(names.map((name, at) => [name, values[at]]));
  const isWhole = names.length === attributes.split(',').length && names.length === values.length;
  return isWhole && Object.keys(item).length === names.length ? { table, item } : undefined;
}

function identify({ table, item, keyNames }: KeyedInsert): string {
  return JSON.stringify([table, ...keyNames.map(name => item[name])]);
}

/** The outcome of a statement, and the units that it took. */
interface Executed {
  readonly answer: {
    readonly TableName?: string;
    readonly Error?: { readonly Code: string; readonly Message: string };
  };
  readonly capacity?: unknown;
}

async function put(insert: KeyedInsert | undefined, capacity: unknown, call: CallOperation): Promise<Executed> {
  if (!insert) return failed('ValidationError', notUnderstood);
  const { table, item, keyNames } = insert;
  const [hashKey] = keyNames;
  if (hashKey === undefined) return failed('ResourceNotFound', 'Requested resource not found', table);
  const { status, body } = await call('PutItem', {
    TableName: table,
    Item: item,
    ConditionExpression: 'attribute_not_exists(#key)',
    ExpressionAttributeNames: { '#key': hashKey },
    ...(capacity !== undefined && { ReturnConsumedCapacity: capacity }),
  });
  if (status === 200) return { answer: { TableName: table }, capacity: body.ConsumedCapacity };
  const type = String(body.__type).split('#').at(-1) ?? '';
  return failed(codes[type] ?? 'ValidationError', String(body.message), table);
}

function failed(Code: string, Message: string, table?: string): Executed {
  return { answer: { ...(table !== undefined && { TableName: table }), Error: { Code, Message } } };
}

const notUnderstood = `Locally, only INSERT INTO "table" VALUE {'attribute':?,…} is understood, with a parameter each`;

/** The code of a statement by the error of its PutItem. */
const codes: Readonly<Record<string, string>> = {
  ConditionalCheckFailedException: 'DuplicateItem',
  ProvisionedThroughputExceededException: 'ProvisionedThroughputExceeded',
  InternalServerError: 'InternalServerError',
};

const statementSchema = z.object({ Statement: z.string(), Parameters: z.array(z.unknown()) });

const tableSchema = z.object({ Table: z.object({ KeySchema: z.array(z.object({ AttributeName: z.string() })) }) });
