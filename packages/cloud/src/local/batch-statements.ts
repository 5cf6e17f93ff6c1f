import * as z from 'zod';

/** Calls an operation of DynamoDB. Returns the status and the parsed body of its answer. */
export type CallOperation = (operation: string, input: object) => Promise<{ status: number; body: Body }>;

export type Body = Readonly<Record<string, unknown>>;

export interface Insert {
  readonly table: string;
  /** In DynamoDB's JSON. */
  readonly item: Body;
}

/**
 * Runs `BatchExecuteStatement` on an engine that has no PartiQL. It understands one statement, in one spelling:
 * `INSERT INTO "table" VALUE {'attribute':?,…}`, with a parameter for each attribute, and refuses a batch with any other. Each
 * becomes a PutItem that does not replace: an item that exists is answered by `DuplicateItem`.
 *
 * @returns the answer's status and body
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchExecuteStatement.html
 */
export async function executeStatements(input: Body, call: CallOperation): Promise<{ status: number; body: object }> {
  const { data, error } = batchSchema.safeParse(input);
  if (!data) return refused(error.issues[0]?.message ?? '');
  const inserts = await Promise.all(
    data.Statements.map(async insert => ({ ...insert, keyNames: await keyNamesOf(insert.table, call) })),
  );
  const items = inserts.map(({ table, item, keyNames }, at) => {
    return JSON.stringify([table, keyNames.length > 0 ? keyNames.map(name => item[name]) : at]);
  });
  if (new Set(items).size < items.length) return refused('Two statements of a batch are about one item');
  return { status: 200, body: { Responses: await Promise.all(inserts.map(insert => put(insert, call))) } };
}

/** Returns the items that a batch inserts; none where one of its statements is not understood. */
export function insertsOf(input: Body): readonly Insert[] {
  return batchSchema.safeParse(input).data?.Statements ?? [];
}

function refused(message: string) {
  return { status: 400, body: { __type: 'com.amazon.coral.validate#ValidationException', message } };
}

/** Returns the names of a table's key, hash first; none where there is no such table. */
async function keyNamesOf(table: string, call: CallOperation): Promise<readonly string[]> {
  const described = tableSchema.safeParse((await call('DescribeTable', { TableName: table })).body);
  return (described.data?.Table.KeySchema ?? []).map(({ AttributeName }) => AttributeName);
}

/** Returns the answer to a statement. */
async function put(
  { table, item, keyNames: [hashKey] }: Insert & { readonly keyNames: readonly string[] },
  call: CallOperation,
): Promise<object> {
  const failed = (Code: string, Message: unknown) => ({ TableName: table, Error: { Code, Message } });
  if (hashKey === undefined) return failed('ResourceNotFound', 'Requested resource not found');
  const { status, body } = await call('PutItem', {
    TableName: table,
    Item: item,
    ConditionExpression: 'attribute_not_exists(#key)',
    ExpressionAttributeNames: { '#key': hashKey },
  });
  if (status === 200) return { TableName: table };
  const isThere = String(body.__type).endsWith('#ConditionalCheckFailedException');
  return failed(isThere ? 'DuplicateItem' : 'ValidationError', body.message);
}

const understood = `Locally, only INSERT INTO "table" VALUE {'attribute':?,…} is understood, with a parameter each`;
const batchSize = 'A batch has 1 to 25 statements';

const batchSchema = z.object({
  Statements: z
    .array(z.object({ Statement: z.string(), Parameters: z.array(z.unknown()) }).transform(readInsert), batchSize)
    .min(1, batchSize)
    .max(25, batchSize),
});

function readInsert(statement: { Statement: string; Parameters: unknown[] }, context: z.RefinementCtx): Insert {
  const { Statement: text, Parameters: values } = statement;
  const [, table = '', list = ''] = /^INSERT INTO "([^"]+)" VALUE \{('[^',]+':\?(?:,'[^',]+':\?)*)\}$/.exec(text) ?? [];
  const names = [...list.matchAll(/'([^']+)'/g)].map(([, name = '']) => name);
  const isNamedTwice = new Set(names).size < names.length;
  if (names.length === 0 || names.length !== values.length || isNamedTwice) context.addIssue(understood);
  return { table, item: Object.fromEntries(names.map((name, at) => [name, values[at]])) };
}

const tableSchema = z.object({ Table: z.object({ KeySchema: z.array(z.object({ AttributeName: z.string() })) }) });
