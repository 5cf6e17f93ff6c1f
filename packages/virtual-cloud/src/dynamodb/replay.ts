import { isDeepStrictEqual } from 'node:util';
import { BatchExecuteStatementCommand, BatchGetCommand, QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Tables, TablesCommand } from './tables.ts';

/** A command that two DynamoDBs have answered differently. */
export interface Difference {
  readonly operation: string;
  readonly input: object;
  readonly virtual: Outcome;
  readonly real: Outcome;
}

/** What became of a command: the name of its error, or its answer, as far as DynamoDB promises one. */
export type Outcome = Readonly<Record<string, unknown>>;

/** Another DynamoDB: the SDK's document client. */
interface Client {
  send(command: TablesCommand<object>): Promise<object>;
}

/**
 * Executes the same operations, one after the other, on virtual tables and on another DynamoDB, and returns where they differ. Both
 * have the same tables, and the same items at the beginning; indexes must not lag, nor items stay unprocessed.
 *
 * Messages of errors are not compared, nor is the order of a scan: a scan in pages is not compared at all.
 */
export async function replay(
  operations: Iterable<TablesCommand<object>>,
  execute: Tables['execute'],
  client: Client,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const command of operations) {
    const virtual = await outcomeOf(command, async () => execute(command));
    const real = await outcomeOf(command, () => client.send(command));
    if (isCompared(command) && !isDeepStrictEqual(virtual, real)) {
      differences.push({ operation: command.constructor.name, input: command.input, virtual, real });
    }
  }
  return differences;
}

function isCompared(command: TablesCommand<object>): boolean {
  if (!(command instanceof ScanCommand)) return true;
  return command.input.Limit === undefined && command.input.ExclusiveStartKey === undefined;
}

/** An error that has no `$metadata` is none of DynamoDB's: it is thrown. */
async function outcomeOf(command: TablesCommand<object>, run: () => Promise<object>): Promise<Outcome> {
  try {
    const { $metadata: _, ...answer } = { $metadata: undefined, ...(await run()) };
    return comparable(command, answer);
  } catch (error) {
    if (!(error instanceof Error && '$metadata' in error)) throw error;
    return { error: error.name };
  }
}

function comparable(command: TablesCommand<object>, answer: Outcome): Outcome {
  const given = Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined));
  if (command instanceof ScanCommand) return { ...given, Items: inAnyOrder(given.Items) };
  if (command instanceof QueryCommand) return given;
  if (command instanceof BatchGetCommand) {
    const tables = Object.entries(given.Responses ?? {}).map(([table, items]) => [table, inAnyOrder(items)]);
    return { ...given, Responses: Object.fromEntries(tables) };
  }
  if (command instanceof BatchExecuteStatementCommand) return { codes: codesOf(given.Responses) };
  return given;
}

/** Texts that are equal for equal items. */
function inAnyOrder(items: unknown): string[] {
  return Array.isArray(items) ? items.map(item => JSON.stringify(sorted(item))).sort() : [];
}

function sorted(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, inner]) => [name, sorted(inner)]);
}

function codesOf(responses: unknown): unknown[] {
  return Array.isArray(responses) ? responses.map(response => response.Error?.Code) : [];
}
