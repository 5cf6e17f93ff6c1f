import { type CallOperation, insertsOf } from './batch-statements.ts';

/** Request units of DynamoDB's on-demand mode. */
export interface Units {
  readonly read: number;
  readonly write: number;
}

/** An item or a key in DynamoDB's JSON. */
export type Attributes = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Performs an operation and returns its answer with the request units that DynamoDB counts for it. A write counts each
 * started KiB of the larger of old and new item, also where its condition fails, and one more for each entry of an index that it
 * writes or deletes. A consistent read counts each started 4 KiB, any other one half of it. Items are read before and after
 * the operation, so nothing else may write them meanwhile.
 *
 * @param call - calls the engine without being counted
 * @param perform - performs the operation itself
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
 */
export async function withUnits<Answer extends { readonly body: object }>(
  operation: string,
  input: Body,
  call: CallOperation,
  perform: () => Promise<Answer>,
): Promise<Answer & { readonly units: Units }> {
  const written = await writtenKeys(operation, input, call);
  const readAll = () => Promise.all(written.map(({ table, key }) => readItem(table, key, call)));
  const before = await readAll();
  const answer = await perform();
  const after = await readAll();
  const write = written.reduce((sum, { design }, at) => sum + writeUnits(before[at], after[at], design), 0);
  return { ...answer, units: { write, read: await readUnits(operation, input, answer.body as Body, call) } };
}

/** Returns the bytes of an item, as DynamoDB counts them: names, and values by their type. */
export function itemSize(item: Attributes): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueSize(value), 0);
}

/** Returns the units of a write that turned one item into another; either may be absent. */
export function writeUnits(
  before: Attributes | undefined,
  after: Attributes | undefined,
  { key, indexes }: TableDesign,
): number {
  const larger = Math.max(before ? itemSize(before) : 0, after ? itemSize(after) : 0);
  const entries = indexes.map(indexKey => {
    const names = [...key, ...indexKey];
    const [old, fresh] = [entryOf(before, names), entryOf(after, names)];
    if (old === fresh) return 0;
    return (old === undefined ? 0 : 1) + (fresh === undefined ? 0 : 1);
  });
  return Math.max(1, Math.ceil(larger / kibibyte)) + entries.reduce<number>((sum, units) => sum + units, 0);
}

/** The keys of a table, and of its indexes, which project nothing else. */
export interface TableDesign {
  readonly key: readonly string[];
  readonly indexes: readonly (readonly string[])[];
}

type Body = Readonly<Record<string, unknown>>;

const kibibyte = 1024;

function valueSize(value: Readonly<Record<string, unknown>>): number {
  const [[type, content] = ['NULL', true]] = Object.entries(value);
  switch (type) {
    case 'S':
      return Buffer.byteLength(String(content));
    case 'N':
      return numberSize(String(content));
    case 'B':
      return Buffer.byteLength(String(content), 'base64');
    case 'SS':
      return (content as string[]).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    case 'NS':
      return (content as string[]).reduce((sum, text) => sum + numberSize(text), 0);
    case 'L':
      return (content as Attributes[string][]).reduce((sum, element) => sum + valueSize(element) + 1, 3);
    case 'M':
      return Object.entries(content as Attributes).reduce(
        (sum, [name, member]) => sum + Buffer.byteLength(name) + valueSize(member) + 1,
        3,
      );
    default:
      return 1;
  }
}

/** One byte for each two significant digits, one more, and one for a sign. */
function numberSize(text: string): number {
  const digits = text
    .replace(/^-/, '')
    .replace('.', '')
    .replace(/^0+|0+$/g, '').length;
  return Math.ceil(digits / 2) + 1 + (text.startsWith('-') ? 1 : 0);
}

function entryOf(item: Attributes | undefined, names: readonly string[]): string | undefined {
  if (!item || names.some(name => item[name] === undefined)) return undefined;
  return JSON.stringify(names.map(name => item[name]));
}

async function describe(table: string, call: CallOperation): Promise<TableDesign> {
  const { body } = await call('DescribeTable', { TableName: table });
  const { KeySchema = [], GlobalSecondaryIndexes = [] } = (body.Table ?? {}) as Partial<Described>;
  const namesOf = (schema: Described['KeySchema']) => schema.map(({ AttributeName }) => AttributeName);
  return { key: namesOf(KeySchema), indexes: GlobalSecondaryIndexes.map(index => namesOf(index.KeySchema)) };
}

interface Described {
  readonly KeySchema: readonly { readonly AttributeName: string }[];
  readonly GlobalSecondaryIndexes: readonly { readonly KeySchema: Described['KeySchema'] }[];
}

/** Returns the items that an operation may write. @throws for a write that is not counted here */
async function writtenKeys(operation: string, input: Body, call: CallOperation): Promise<readonly WrittenKey[]> {
  const keyIn = async (table: string, item: Attributes) => {
    const design = await describe(table, call);
    return { table, design, key: Object.fromEntries(design.key.map(name => [name, item[name] ?? {}])) };
  };
  const table = String(input.TableName);
  if (operation === 'PutItem') return [await keyIn(table, input.Item as Attributes)];
  if (operation === 'UpdateItem' || operation === 'DeleteItem') return [await keyIn(table, input.Key as Attributes)];
  if (operation === 'BatchExecuteStatement')
    return Promise.all(insertsOf(input).map(insert => keyIn(insert.table, insert.item as Attributes)));
  if (/^(?:Transact|BatchWrite|ExecuteStatement)/.test(operation)) throw new Error(`${operation} is not counted.`);
  return [];
}

interface WrittenKey {
  readonly table: string;
  readonly design: TableDesign;
  readonly key: Attributes;
}

async function readItem(table: string, Key: Attributes, call: CallOperation): Promise<Attributes | undefined> {
  const { body } = await call('GetItem', { TableName: table, Key, ConsistentRead: true });
  return body.Item as Attributes | undefined;
}

async function readUnits(operation: string, input: Body, body: Body, call: CallOperation): Promise<number> {
  const share = (isConsistent: unknown) => (isConsistent ? 1 : 0.5);
  const units = (bytes: number) => Math.max(1, Math.ceil(bytes / (4 * kibibyte)));
  const ofItem = async (table: string, key: Attributes, isConsistent: unknown) => {
    const item = await readItem(table, key, call);
    return units(item ? itemSize(item) : 0) * share(isConsistent);
  };
  if (operation === 'GetItem') return ofItem(String(input.TableName), input.Key as Attributes, input.ConsistentRead);
  if (operation === 'BatchGetItem') {
    const requests = Object.entries((input.RequestItems ?? {}) as Record<string, KeysAndOptions>);
    const counted = requests.flatMap(([table, { Keys, ConsistentRead }]) =>
      Keys.map(key => ofItem(table, key, ConsistentRead)),
    );
    return (await Promise.all(counted)).reduce((sum, each) => sum + each, 0);
  }
  if (operation !== 'Query' && operation !== 'Scan') return 0;
  const items = (body.Items ?? []) as readonly Attributes[];
  return units(items.reduce((sum, item) => sum + itemSize(item), 0)) * share(input.ConsistentRead);
}

interface KeysAndOptions {
  readonly Keys: readonly Attributes[];
  readonly ConsistentRead?: boolean;
}
