import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  type DeleteCommandInput,
  GetCommand,
  type GetCommandInput,
  PutCommand,
  type PutCommandInput,
  QueryCommand,
  ScanCommand,
  type TranslateConfig,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../service-error.ts';
import { type Attributes, makeTranslation, type NativeItem } from './attribute-values.ts';
import { makeBatches } from './batches.ts';
import { holds } from './conditions.ts';
import { keyIn } from './keys.ts';
import { makeQueries } from './queries.ts';
import type { Path } from './reader.ts';
import { checkOptions, notKnown, validationError } from './refusals.ts';
import { makeTable, type Table, type TableDefinition } from './table.ts';
import { updated } from './updates.ts';

/** A DynamoDB in memory. */
export interface Tables {
  /**
   * Executes a command of the document client at once, and returns its answer.
   *
   * @throws {ServiceError} where DynamoDB refuses it; another error where it is not known here.
   */
  readonly execute: <Output extends object>(command: TablesCommand<Output>) => Output;
  /** Returns the items of a table, for looks: no index or lag is in between. */
  readonly items: (table: string) => readonly NativeItem[];
}

/** A command of the document client, as far as it matters here: its answer's type is known. */
export interface TablesCommand<Output extends object> {
  readonly input: object;
  resolveMiddleware(
    stack: never,
    configuration: never,
    options: never,
  ): (...given: never[]) => Promise<{ output: Output }>;
}

/** Makes a DynamoDB in memory. It decides nothing by itself: time and chance are given. TTL has no effect. */
export function makeTables({
  definitions,
  now,
  indexLag = () => 0,
  readLag = () => 0,
  translate,
}: {
  readonly definitions: readonly TableDefinition[];
  /** Returns the time, in milliseconds. */
  readonly now: () => number;
  /** Returns after how many milliseconds an index sees a write. @default 0 */
  readonly indexLag?: () => number;
  /** Returns how many milliseconds ago, 300 at most, an item stood so as a reading finds it that need not be consistent. @default 0 */
  readonly readLag?: () => number;
  /** The settings of the document client that is stood in for. @default - its defaults */
  readonly translate?: TranslateConfig;
}): Tables {
  const tables = new Map(
    definitions.map(definition => [definition.TableName, makeTable(definition, now, indexLag, readLag)]),
  );
  const translation = makeTranslation(translate);
  const { attributes, native, placeholders } = translation;
  const many = makeQueries(tableOf, translation);
  const batch = makeBatches(tableOf, translation);
  return { execute, items: table => tableOf(table).items().map(native) };

  function execute<Output extends object>(command: TablesCommand<Output>): Output;
  function execute(command: object): object {
    if (command instanceof GetCommand) return get(command.input);
    if (command instanceof PutCommand) return put(command.input);
    if (command instanceof UpdateCommand) return update(command.input);
    if (command instanceof DeleteCommand) return remove(command.input);
    if (command instanceof QueryCommand) return many.query(command.input);
    if (command instanceof ScanCommand) return many.scan(command.input);
    if (command instanceof BatchGetCommand) return batch.get(command.input);
    if (command instanceof BatchWriteCommand) return batch.write(command.input);
    if (command instanceof BatchExecuteStatementCommand) return batch.insert(command.input);
    throw notKnown(`the command ${command.constructor.name}`);
  }

  function get(request: GetCommandInput): object {
    checkOptions(request, getOptions);
    const item = tableOf(request.TableName).read(attributes(request.Key), request.ConsistentRead);
    return item ? { Item: native(item) } : {};
  }

  function put(request: PutCommandInput): object {
    checkOptions(request, putOptions);
    const table = tableOf(request.TableName);
    const item = attributes(request.Item);
    const before = table.get(keyIn(table.key, item));
    demand(request, before);
    table.put(item);
    return returned(request, { ALL_OLD: before });
  }

  function remove(request: DeleteCommandInput): object {
    checkOptions(request, deleteOptions);
    const table = tableOf(request.TableName);
    const key = attributes(request.Key);
    const before = table.get(key);
    demand(request, before);
    table.remove(key);
    return returned(request, { ALL_OLD: before });
  }

  function update(request: UpdateCommandInput): object {
    checkOptions(request, updateOptions);
    const table = tableOf(request.TableName);
    const key = attributes(request.Key);
    const before = table.get(key);
    const bound = demand(request, before);
    const { after, paths } = updated(request.UpdateExpression ?? '', before ?? key, bound);
    const changedKey = table.key.find(({ name }) => paths.some(([first]) => first === name));
    if (changedKey)
      throw validationError(`Cannot update attribute ${changedKey.name}. This attribute is part of the key`);
    table.put(after);
    const { ReturnValues: wanted } = request;
    if (!wanted?.startsWith('UPDATED')) return returned(request, { ALL_OLD: before, ALL_NEW: after });
    return returned(request, { UPDATED_OLD: before && partOf(before, paths), UPDATED_NEW: partOf(after, paths) });
  }

  /** Returns the placeholders of a write. @throws {ServiceError} where its condition does not hold. */
  function demand(request: PutCommandInput | DeleteCommandInput | UpdateCommandInput, item: Attributes = {}) {
    const { ConditionExpression: condition } = request;
    const bound = placeholders(request);
    if (condition === undefined || holds(condition, item, bound)) return bound;
    throw new ServiceError('ConditionalCheckFailedException', 'The conditional request failed');
  }

  /** Returns an answer with the attributes that were asked for. It has none where there are none. */
  function returned(
    { ReturnValues: wanted = 'NONE' }: Pick<UpdateCommandInput, 'ReturnValues'>,
    found: Readonly<Record<string, Attributes | undefined>>,
  ): object {
    if (wanted !== 'NONE' && !(wanted in found)) throw notKnown(`ReturnValues ${wanted} of this command`);
    const { [wanted]: values = {} } = found;
    return Object.keys(values).length > 0 ? { Attributes: native(values) } : {};
  }

  function tableOf(name: string | undefined): Table {
    const table = tables.get(name);
    if (table) return table;
    throw new ServiceError('ResourceNotFoundException', 'Requested resource not found');
  }
}

const getOptions = ['TableName', 'Key', 'ConsistentRead'];
const writeOptions = [
  'TableName',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ReturnValues',
];
const putOptions = [...writeOptions, 'Item'];
const deleteOptions = [...writeOptions, 'Key'];
const updateOptions = [...deleteOptions, 'UpdateExpression'];

/** Returns the attributes at some paths. */
function partOf(item: Attributes, paths: readonly Path[]): Attributes {
  if (paths.some(path => path.length > 1)) throw notKnown('ReturnValues of parts of attributes');
  return Object.fromEntries(Object.entries(item).filter(([name]) => paths.some(([first]) => first === name)));
}
