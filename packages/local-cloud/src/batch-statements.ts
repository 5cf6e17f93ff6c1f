import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http';

/** Calls an operation of DynamoDB. Returns the status and the parsed body of its answer. */
export type CallOperation = (operation: string, input: object) => Promise<{ status: number; body: Body }>;

/**
 * Runs `BatchExecuteStatement` on an engine that has no PartiQL. It understands one statement,
 * `INSERT INTO "table" VALUE {'attribute':?,…}`, with a parameter for each attribute, and refuses all others by
 * `ValidationError`. Each becomes a PutItem that does not replace: an item that exists is answered by `DuplicateItem`.
 *
 * @returns the answer's status and body
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchExecuteStatement.html
 */
export async function executeStatements(input: Body, call: CallOperation): Promise<{ status: number; body: object }> {
  const statements = statementsOf(input);
  if (statements.length === 0 || statements.length > mostStatements) {
    return refused(`A batch has 1 to ${mostStatements} statements, not ${statements.length}`);
  }
  const inserts = statements.map(readInsert);
  const keys = await Promise.all(inserts.map(insert => insert && keyOf(insert, call)));
  const known = keys.filter(key => key !== undefined);
  if (new Set(known).size < known.length) return refused('Two statements of a batch are about one item');
  const answers = await Promise.all(
    inserts.map(insert => (insert ? run(insert, input.ReturnConsumedCapacity, call) : unknownStatement)),
  );
  const capacities = answers.flatMap(({ ConsumedCapacity }) => (ConsumedCapacity ? [ConsumedCapacity] : []));
  return {
    status: 200,
    body: {
      Responses: answers.map(({ ConsumedCapacity: _, ...answer }) => answer),
      ...(capacities.length > 0 && { ConsumedCapacity: capacities }),
    },
  };
}

/** Returns the names of the tables that a batch inserts into. */
export function insertedTables(input: Body): string[] {
  return insertsOf(input).map(({ table }) => table);
}

/** Returns the items that a batch inserts; statements that are not understood are left out. */
export function insertsOf(input: Body): Insert[] {
  return statementsOf(input).flatMap(statement => readInsert(statement) ?? []);
}

/** Makes the caller of an engine's operations, by its own listener for requests. `signed` has the headers of a signed request. */
export function callsOf(handle: RequestListener, signed: IncomingHttpHeaders): CallOperation {
  return function callOperation(operation, input) {
    const request = Object.assign(new EventEmitter(), {
      method: 'POST',
      url: '/',
      headers: { ...signed, 'x-amz-target': `DynamoDB_20120810.${operation}` },
    });
    return new Promise(resolve => {
      const response = {
        statusCode: 200,
        setHeader: () => {},
        end: (text = '{}') => resolve({ status: response.statusCode, body: JSON.parse(text) }),
      };
      handle(request as unknown as IncomingMessage, response as never);
      request.emit('data', Buffer.from(JSON.stringify(input)));
      request.emit('end');
    });
  };
}

/** A parsed body. */
type Body = Readonly<Record<string, unknown>>;

/** A statement as it comes. */
interface StatementRequest {
  readonly Statement?: unknown;
  readonly Parameters?: unknown;
}

/** An item to insert, in DynamoDB's JSON. */
interface Insert {
  readonly table: string;
  readonly item: Readonly<Record<string, unknown>>;
}

/** DynamoDB's answer to a statement, with the units that it took. */
interface Answer {
  readonly TableName?: string;
  readonly Error?: { readonly Code: string; readonly Message: string };
  readonly ConsumedCapacity?: unknown;
}

const mostStatements = 25;

const insertStatement = /^INSERT INTO "([\w.-]{3,255})" VALUE \{('[^'"{},:]+':\?(?:,'[^'"{},:]+':\?)*)\}$/;

const unknownStatement: Answer = {
  Error: {
    Code: 'ValidationError',
    Message: `Locally, only INSERT INTO "table" VALUE {'attribute':?,…} is understood, with a parameter each`,
  },
};

function statementsOf({ Statements: statements }: Body): readonly (StatementRequest | null)[] {
  return Array.isArray(statements) ? statements : [];
}

function readInsert(request: StatementRequest | null): Insert | undefined {
  const { Statement, Parameters: values } = request ?? {};
  const [, table, attributes] = insertStatement.exec(String(Statement)) ?? [];
  if (table === undefined || attributes === undefined || !Array.isArray(values)) return undefined;
  const names = attributes.split(',').map(attribute => attribute.slice(1, -"':?".length));
  if (names.length !== values.length || new Set(names).size < names.length) return undefined;
  return { table, item: Object.fromEntries(names.map((name, index) => [name, values[index]])) };
}

async function keyOf({ table, item }: Insert, call: CallOperation): Promise<string> {
  const names = await keyNames(table, call);
  return JSON.stringify([table, ...names.map(name => item[name])]);
}

async function keyNames(table: string, call: CallOperation): Promise<string[]> {
  const { body } = await call('DescribeTable', { TableName: table });
  const { KeySchema = [] } = (body.Table ?? {}) as { KeySchema?: readonly { AttributeName: string }[] };
  return KeySchema.map(({ AttributeName }) => AttributeName);
}

async function run({ table, item }: Insert, capacity: unknown, call: CallOperation): Promise<Answer> {
  const [hashKey = ''] = await keyNames(table, call);
  const { status, body } = await call('PutItem', {
    TableName: table,
    Item: item,
    ConditionExpression: 'attribute_not_exists(#key)',
    ExpressionAttributeNames: { '#key': hashKey },
    ...(capacity !== undefined && { ReturnConsumedCapacity: capacity }),
  });
  if (status === 200) return { TableName: table, ConsumedCapacity: body.ConsumedCapacity };
  const type = String(body.__type).split('#').at(-1) ?? '';
  const code = type === 'ConditionalCheckFailedException' ? 'DuplicateItem' : (codes[type] ?? 'ValidationError');
  return { TableName: table, Error: { Code: code, Message: String(body.message) } };
}

/** The codes of statements by the errors of operations, where they differ. */
const codes: Readonly<Record<string, string>> = {
  ResourceNotFoundException: 'ResourceNotFound',
  ProvisionedThroughputExceededException: 'ProvisionedThroughputExceeded',
  InternalServerError: 'InternalServerError',
};

function refused(message: string) {
  return { status: 400, body: { __type: 'com.amazon.coral.validate#ValidationException', message } };
}
