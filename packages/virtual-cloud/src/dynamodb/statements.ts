import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import type {
  BatchExecuteStatementCommandInput,
  BatchExecuteStatementCommandOutput,
  NativeAttributeValue,
} from '@aws-sdk/lib-dynamodb';
import { metadataOf, notImplemented, validationError } from './errors.ts';
import { checkItemKey, itemText } from './key-schema.ts';
import { checkOptions } from './options.ts';
import type { Table } from './table.ts';
import type { Translation } from './translation.ts';

/**
 * Makes the operation of several PartiQL statements. It knows one: `INSERT INTO "table" VALUE {'attribute':?,…}` with a parameter for
 * each attribute. Each has its own outcome.
 */
export function makeStatements(tableOf: (name: string | undefined) => Table, translation: Translation) {
  return function execute(request: BatchExecuteStatementCommandInput): BatchExecuteStatementCommandOutput {
    checkOptions(request, new Set(['Statements']));
    const inserts = (request.Statements ?? []).map(readInsert);
    if (inserts.length === 0 || inserts.length > mostStatements) {
      throw validationError(`Member must have length between 1 and ${mostStatements}`);
    }
    const texts = inserts.map(insert => attempt(() => keyOf(insert)).value).filter(text => text !== undefined);
    if (new Set(texts).size < texts.length) {
      throw validationError('BatchExecuteStatement cannot have multiple statements about one item');
    }
    return { $metadata: metadataOf(200), Responses: inserts.map(respond) };
  };

  function keyOf(insert: Insert): string {
    const { key } = tableOf(insert.table);
    const item = itemOf(insert);
    checkItemKey(key, item);
    return `${insert.table} ${itemText(key, item)}`;
  }

  function respond(insert: Insert) {
    const { error, value: isNew } = attempt(() => insertNew(insert));
    const failure = error ?? (isNew ? undefined : duplicate);
    return { TableName: insert.table, ...(failure && { Error: failure }) };
  }

  /** Returns whether the item is new; one that is there stays as it is. */
  function insertNew(insert: Insert): boolean {
    const table = tableOf(insert.table);
    const item = itemOf(insert);
    const size = table.check(item);
    if (table.get(item)) return false;
    table.put(item, size);
    return true;
  }

  function itemOf({ item }: Insert) {
    return translation.attributes(Object.fromEntries(item));
  }
}

/** An item to insert. */
interface Insert {
  readonly table: string;
  readonly item: readonly (readonly [name: string, value: NativeAttributeValue])[];
}

type Statement = NonNullable<BatchExecuteStatementCommandInput['Statements']>[number];

const mostStatements = 25;

const duplicate = { Code: 'DuplicateItem', Message: 'Duplicate primary key exists in table' } as const;

/** The code of a statement by the name of its error. */
const codes = {
  ValidationException: 'ValidationError',
  ResourceNotFoundException: 'ResourceNotFound',
} as const;

function readInsert(statement: Statement): Insert {
  checkOptions(statement, new Set(['Statement', 'Parameters']));
  const { Statement: text = '', Parameters: values = [] } = statement;
  const [, table, list = ''] = /^INSERT INTO "([^"]+)" VALUE \{(.+)\}$/.exec(text) ?? [];
  const names = list.split(',').map(attribute => /^'([^',]+)':\?$/.exec(attribute)?.[1]);
  const known = names.filter(name => name !== undefined);
  if (table === undefined || known.length < names.length || new Set(known).size < known.length) {
    throw notImplemented('this statement of PartiQL');
  }
  if (known.length !== values.length)
    throw validationError("Number of parameters in request and statement don't match.");
  return { table, item: known.map((name, at) => [name, values[at]]) };
}

/** Returns what came of it, or its error as a statement has it. */
function attempt<Value>(run: () => Value) {
  try {
    return { value: run() };
  } catch (error) {
    if (!(error instanceof DynamoDBServiceException)) throw error;
    const [, Code] = Object.entries(codes).find(([name]) => name === error.name) ?? [];
    if (!Code) throw error;
    return { error: { Code, Message: error.message } };
  }
}
