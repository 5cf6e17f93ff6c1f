import { type DynamoDBDocumentClient, GetCommand } from '../../lambdas/platform/aws/documents.ts';

/*
 * What writes cost in an on-demand table, by the rules that DynamoDB publishes: a unit for each KiB that is begun of the larger of
 * what an item was and what it becomes, and the same for each entry of an index that is made, taken away or changed. One that
 * moves is taken away and made. A write whose condition fails costs as much as the item that stands there.
 */

/** An item, as the document client reads and writes it. */
export type StoredItem = Readonly<Record<string, unknown>>;

/** The keys of a table and its indexes, as CloudFormation has them. Its indexes hold keys only. */
export interface TableKeys {
  readonly KeySchema: readonly KeyElement[];
  readonly GlobalSecondaryIndexes?: readonly { readonly KeySchema?: readonly KeyElement[] | undefined }[] | undefined;
}

/** Returns the write units of a change of one item; `undefined` stands for no item. */
export function writeUnits(keys: TableKeys, before: StoredItem | undefined, after: StoredItem | undefined): number {
  const indexes = (keys.GlobalSecondaryIndexes ?? []).map(index => {
    const names = namesOf(index.KeySchema ?? []);
    const projected = [...new Set([...names, ...namesOf(keys.KeySchema)])];
    return entryUnits(entryOf(before, names, projected), entryOf(after, names, projected));
  });
  return indexes.reduce((sum, units) => sum + units, unitsOf(Math.max(itemBytes(before), itemBytes(after), 1)));
}

/** Returns the bytes of an item as DynamoDB bills them: its names and its values. */
export function itemBytes(item: StoredItem | undefined): number {
  return Object.entries(item ?? {})
    .filter(([, value]) => value !== undefined)
    .reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value), 0);
}

/** What the writes of a metered client cost. */
export interface Meter {
  readonly dynamo: DynamoDBDocumentClient;
  /** The writes of items since the last call, in their order. Those whose condition failed are among them. */
  readonly take: () => readonly MeteredWrite[];
}

/** One write of an item. */
interface MeteredWrite {
  readonly units: number;
  /** The bytes of the item that was written; none where the condition failed. */
  readonly bytes: number;
  readonly item: StoredItem | undefined;
}

/** Makes a client that meters PutItem and UpdateItem of one table: it reads the item before and after each. One write at a time. */
export function makeMeter(dynamo: DynamoDBDocumentClient, table: string, keys: TableKeys): Meter {
  let writes: MeteredWrite[] = [];
  return { dynamo: { send } as unknown as DynamoDBDocumentClient, take };

  function take(): readonly MeteredWrite[] {
    const taken = writes;
    writes = [];
    return taken;
  }

  async function send(command: Parameters<DynamoDBDocumentClient['send']>[0]): Promise<unknown> {
    const { TableName, Item, UpdateExpression, Key = Item } = command.input as WriteInput;
    if (TableName !== table || Key === undefined || (Item ?? UpdateExpression) === undefined)
      return dynamo.send(command);
    const before = await read(Key);
    try {
      const answer = await dynamo.send(command);
      const item = await read(Key);
      writes.push({ units: writeUnits(keys, before, item), bytes: itemBytes(item), item });
      return answer;
    } catch (error) {
      const isRefused = error instanceof Error && error.name === 'ConditionalCheckFailedException';
      if (isRefused) writes.push({ units: unitsOf(Math.max(itemBytes(before), 1)), bytes: 0, item: undefined });
      throw error;
    }
  }

  async function read(item: StoredItem): Promise<StoredItem | undefined> {
    const Key = Object.fromEntries(namesOf(keys.KeySchema).map(name => [name, item[name]]));
    return (await dynamo.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }))).Item;
  }
}

interface KeyElement {
  readonly AttributeName?: string | undefined;
}

interface WriteInput {
  readonly TableName?: string;
  readonly Item?: StoredItem;
  readonly Key?: StoredItem;
  readonly UpdateExpression?: string;
}

function namesOf(schema: readonly KeyElement[]): readonly string[] {
  return schema.map(({ AttributeName }) => String(AttributeName));
}

/** The entry of an item in an index: none unless the item has all attributes of the index's key. */
function entryOf(
  item: StoredItem | undefined,
  names: readonly string[],
  projected: readonly string[],
): StoredItem | undefined {
  if (!item || names.some(name => item[name] === undefined)) return undefined;
  return Object.fromEntries(projected.map(name => [name, item[name]]));
}

/** All that an entry holds is key: one that changes moves. */
function entryUnits(before: StoredItem | undefined, after: StoredItem | undefined): number {
  if (JSON.stringify(before) === JSON.stringify(after)) return 0;
  return (before ? unitsOf(itemBytes(before)) : 0) + (after ? unitsOf(itemBytes(after)) : 0);
}

function unitsOf(bytes: number): number {
  return Math.ceil(bytes / 1_024);
}

/** The bytes of a value: two digits of a number fit into one, and whatever holds others adds three, and one for each. */
function valueBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return numberBytes(value);
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + valueBytes(each) + 1, 3);
  if (typeof value !== 'object' || value === null) return 1;
  return 3 + itemBytes(value as StoredItem) + Object.keys(value).length;
}

function numberBytes(value: number): number {
  const digits = Math.abs(value)
    .toString()
    .replace('.', '')
    .replace(/^0+|0+$/g, '').length;
  return Math.ceil(digits / 2) + 1 + (value < 0 ? 1 : 0);
}
