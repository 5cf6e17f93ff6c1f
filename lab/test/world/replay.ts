import { isDeepStrictEqual } from 'node:util';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  DynamoDBDocumentClient,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/lib-dynamodb';
import { makeTables, type TablesCommand } from '@emissor/cloud/dynamodb/tables';
import { ServiceError } from '@emissor/cloud/virtual';
import { withoutSignature } from '../../../test/support/database/database.ts';
import { tableDefinition, tableNames } from '../../../tools/support/tables.ts';

/** A command and its outcome in the virtual tables. */
export interface Executed {
  readonly command: TablesCommand<object>;
  readonly outcome: object;
}

/** The table definitions of the service. */
export const definitions = tableNames().map(name => ({ TableName: name, ...tableDefinition(name) }));

/** The options for the document client, which returns numbers as digits, for example `{ N: '0.1' }`. */
const translation = {
  marshallOptions: { removeUndefinedValues: true },
  unmarshallOptions: { wrapNumbers: (digits: string) => ({ N: digits }) },
};

/** Calls `act` and returns its result, or the error that DynamoDB returned. */
export async function outcomeOf(act: () => object): Promise<object> {
  try {
    return structuredClone(await act());
  } catch (error) {
    const isDynamoError = error instanceof ServiceError || (error instanceof Error && '$metadata' in error);
    if (!isDynamoError) throw error;
    return { error: error.name, reasons: reasonsOf(error) };
  }
}

/** Returns the cancellation reasons for a transaction, one code for each operation. */
export function reasonsOf(error: object): readonly object[] {
  const { CancellationReasons: reasons = [] }: { readonly CancellationReasons?: readonly Reason[] } = error;
  return reasons.map(({ Code }) => ({ Code }));
}

interface Reason {
  readonly Code?: string;
}

/**
 * Repeats commands on empty tables in DynamoDB Local and compares each response. Indexes in DynamoDB Local do not lag, so responses from
 * lagging indexes are compared with virtual tables without lag. Pages of scans are not compared, because DynamoDB does not define their order.
 *
 * @param region - must be unique among the replays at this endpoint
 */
export async function replay(executed: readonly Executed[], endpoint: string, region: string) {
  const engine = new DynamoDBClient({
    endpoint,
    region, // separates the databases at one endpoint
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    signer: { sign: withoutSignature(region) },
    maxAttempts: 1,
  });
  const client: Client = DynamoDBDocumentClient.from(engine, translation);
  const { execute } = makeTables({ definitions, now: () => 0 });
  const result = { compared: 0, fromIndexes: 0, lagging: 0, omitted: 0, differences: [] as object[] };
  for (const definition of definitions) {
    await engine.send(new CreateTableCommand({ BillingMode: 'PAY_PER_REQUEST', ...definition }));
  }
  for (const { command, outcome } of executed) {
    const [real, virtual] = [await outcomeOf(() => client.send(command)), await outcomeOf(() => execute(command))];
    const recorded = comparable(command, outcome);
    const isIndexQuery = command instanceof QueryCommand && command.input.IndexName !== undefined;
    const withoutLag = isIndexQuery ? comparable(command, virtual) : recorded;
    const isLagging = !isDeepStrictEqual(recorded, withoutLag);
    if (isIndexQuery) result.fromIndexes += 1;
    if (isLagging) result.lagging += 1;
    if (isPageOfScan(command)) result.omitted += 1;
    else {
      result.compared += 1;
      const difference = { input: command.input, virtual: withoutLag, real: comparable(command, real) };
      if (!isDeepStrictEqual(difference.virtual, difference.real)) result.differences.push(difference);
    }
  }
  engine.destroy();
  return result;
}

/** The client's `send`. It is declared as a method, so that TypeScript does not check the types of specific commands. */
interface Client {
  send(command: TablesCommand<object>): Promise<object>;
}

function isPageOfScan(command: object): boolean {
  if (!(command instanceof ScanCommand)) return false;
  return command.input.Limit !== undefined || command.input.ExclusiveStartKey !== undefined;
}

/** Removes what DynamoDB does not define: error messages, the order of items, and capacity that was not requested. */
function comparable(command: object, outcome: object): unknown {
  const {
    $metadata: _,
    ConsumedCapacity: __,
    ...output
  } = { $metadata: undefined, ConsumedCapacity: undefined, ...outcome };
  const defined = Object.fromEntries(Object.entries(output).filter(([, value]) => value !== undefined));
  const { Items, Responses } = defined;
  if (command instanceof ScanCommand) return plain({ ...defined, Items: inAnyOrder(Items) });
  if (command instanceof BatchExecuteStatementCommand && Array.isArray(Responses)) {
    return Responses.map(response => response.Error?.Code);
  }
  if (!(command instanceof BatchGetCommand) || !Responses) return plain(defined);
  const tables = Object.entries(Responses).flatMap(([table, items]) =>
    items.length > 0 ? [[table, inAnyOrder(items)]] : [],
  );
  return plain({ ...defined, Responses: Object.fromEntries(tables) });
}

function inAnyOrder(items: unknown): readonly string[] {
  return Array.isArray(items) ? items.map(item => JSON.stringify(plain(item))).sort() : [];
}

/** Returns a value with numbers as digits and sorted property names. */
function plain(value: unknown): unknown {
  if (typeof value === 'number') return { N: String(value) };
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const sorted = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, inner]) => [name, plain(inner)]));
}
