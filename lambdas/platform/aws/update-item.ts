import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from './batch-get.ts';
import { conditionalWrite, type Dynamo, equalsWritten, type Item, type ItemKey } from './dynamo.ts';

/** A part of a DynamoDB expression. Placeholders replace names and values, so reserved words are allowed. */
export type Expression = (placeholders: Placeholders) => string;

export interface ItemUpdate {
  /** The new values of attributes. A value may be an expression. `undefined` removes the attribute. */
  readonly set: Item;
  /** The condition of the change. @default - unconditional */
  readonly when?: Expression | undefined;
  /** Returns whether this update wrote the stored item. @default - compares the item with all values of `set` */
  readonly isOwn?: ((item: Item) => boolean) | undefined;
  /** The attributes to return. `ALL_NEW` returns the updated item. @default - no attributes */
  readonly returns?: 'ALL_NEW';
}

/**
 * Updates or creates an item. Returns the requested attributes, or `undefined` if the condition is not met. If the SDK repeated the call, an
 * earlier try may have taken effect. The function then reads the item, which requires `dynamodb:BatchGetItem`.
 */
export async function updateItem(
  dynamo: Dynamo,
  itemKey: ItemKey,
  { set, when, returns, isOwn = item => isSetIn(item, set) }: ItemUpdate,
): Promise<Item | undefined> {
  const command = new UpdateCommand({ ...updateOf(itemKey, { set, when }), ReturnValues: returns });
  const update = dynamo(command).then(({ Attributes = {} }) => Attributes);
  return conditionalWrite(update, readBack);

  async function readBack(): Promise<Item | undefined> {
    const [item] = await batchGet(dynamo, [itemKey]);
    return item && isOwn(item) ? { ...(returns && item) } : undefined;
  }
}

/** Returns the fields of an UpdateItem or of an update in a transaction. */
export function updateOf({ table, key }: ItemKey, { set, when }: Pick<ItemUpdate, 'set' | 'when'>) {
  const placeholders: Placeholders = { names: new Map(), values: new Map() };
  const assignments: string[] = [];
  const removals: string[] = [];
  for (const [name, value] of Object.entries(set)) {
    const target = attribute(name)(placeholders);
    if (value === undefined) removals.push(target);
    else assignments.push(`${target} = ${render(value, placeholders)}`);
  }
  return {
    TableName: table,
    Key: key,
    UpdateExpression: [clause('SET', assignments), clause('REMOVE', removals)].join(' ').trim(),
    ConditionExpression: when?.(placeholders),
    ...placeholderFields(placeholders),
  };
}

/**
 * Creates a DynamoDB expression with plain attribute names, such as `expression`counter = ${3}``. An inserted value becomes a value
 * placeholder, and an inserted expression becomes part of this one. A word before a parenthesis is a function, and a word in upper case is an
 * operator.
 */
export function expression(texts: TemplateStringsArray, ...inserted: readonly unknown[]): Expression {
  return function renderExpression(placeholders) {
    const parts = texts.map(text => text.replace(attributeName, name => attribute(name)(placeholders)));
    return parts.map((part, at) => (at === 0 ? part : `${render(inserted[at - 1], placeholders)}${part}`)).join('');
  };
}

/** Returns an expression for an attribute name that is not a plain word. */
export function attribute(name: string): Expression {
  return function renderAttribute({ names }) {
    const placeholder = names.get(name) ?? `#n${names.size}`;
    names.set(name, placeholder);
    return placeholder;
  };
}

/** Returns the fields of a conditional PutItem or DeleteItem. */
export function conditionOf(when: Expression) {
  const placeholders: Placeholders = { names: new Map(), values: new Map() };
  return { ConditionExpression: when(placeholders), ...placeholderFields(placeholders) };
}

/**
 * Returns whether an item has the values that an update sets. Ignores expressions, because their results are unknown, and `ttl`, because
 * other writers also set it.
 */
function isSetIn(item: Item, set: Item): boolean {
  const comparable = Object.entries(set).filter(([name, value]) => name !== 'ttl' && typeof value !== 'function');
  return comparable.length > 0 && comparable.every(([name, value]) => equalsWritten(item[name], value));
}

/** The placeholders of one call. `names` maps names to placeholders, and `values` maps placeholders to values. */
interface Placeholders {
  readonly names: Map<string, string>;
  readonly values: Map<string, unknown>;
}

/** A lower-case word that is not followed by a parenthesis. */
const attributeName = /\b[a-z]\w*\b(?!\()/g;

function render(inserted: unknown, placeholders: Placeholders): string {
  if (typeof inserted === 'function') return (inserted as Expression)(placeholders);
  const placeholder = `:v${placeholders.values.size}`;
  placeholders.values.set(placeholder, inserted);
  return placeholder;
}

function clause(keyword: string, actions: readonly string[]): string {
  return actions.length === 0 ? '' : `${keyword} ${actions.join(', ')}`;
}

function placeholderFields({ names, values }: Placeholders) {
  return {
    ...(names.size > 0 && {
      ExpressionAttributeNames: Object.fromEntries([...names].map(([name, placeholder]) => [placeholder, name])),
    }),
    ...(values.size > 0 && { ExpressionAttributeValues: Object.fromEntries(values) }),
  };
}
