/**
 * Returns a schema in the forms that generators of clients read: `null` as one of a list of types, and in place of a union of
 * objects one object with the fields of all. Its `x-forms` says which fields come together.
 */
export function plain(schema: Schema): Schema {
  const { anyOf, oneOf, properties, items, ...rest } = schema as Nested;
  const variants = anyOf ?? oneOf;
  if (variants) return { ...rest, ...merged(variants.map(plain)) };
  const others = Object.entries(properties ?? {}).map(([name, property]) => [name, plain(property)]);
  return {
    ...rest,
    ...(properties && { properties: Object.fromEntries(others) }),
    ...(items && { items: plain(items) }),
  };
}

/**
 * Returns a schema that refuses no field and no value of a list that it does not know. Today's values stand in the description
 * and as `x-extensible-enum`.
 */
export function opened(schema: Schema): Schema {
  const { enum: listed, const: only, properties, items, additionalProperties: _, ...rest } = schema as Nested;
  const values = listed ?? (only === undefined ? [] : [only]);
  const texts = values.filter(value => typeof value === 'string');
  const inner = Object.entries(properties ?? {}).map(([name, property]) => [name, opened(property)]);
  return {
    ...rest,
    ...(texts.length > 0 && { description: told(rest.description, texts), 'x-extensible-enum': texts }),
    ...(properties && { properties: Object.fromEntries(inner), additionalProperties: true }),
    ...(items && { items: opened(items) }),
  };
}

/** Returns one schema of objects for several: a field is required where all require it. */
export function union(schemas: readonly Schema[]): Schema {
  const forms = schemas as readonly ObjectForm[];
  const names = [...new Set(forms.flatMap(({ properties }) => Object.keys(properties)))];
  const properties = names.map(name => [name, common(forms.flatMap(form => fieldOf(form, name)))]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: names.filter(name => forms.every(({ required = [] }) => required.includes(name))),
    additionalProperties: true,
    'x-forms': forms.map(({ properties: own, required = [] }) => ({
      required,
      optional: Object.keys(own).filter(name => !required.includes(name)),
    })),
  };
}

/** A JSON Schema, draft 2020-12. */
export type Schema = Readonly<Record<string, unknown>>;

interface Nested extends Schema {
  readonly description?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface ObjectForm extends Schema {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

function fieldOf({ properties }: ObjectForm, name: string): readonly Schema[] {
  const field = properties[name];
  return field ? [field] : [];
}

function merged(variants: readonly Schema[]): Schema {
  const others = variants.filter(({ type }) => type !== 'null');
  const [only = {}] = others;
  if (others.length > 1) return union(others);
  return others.length === variants.length ? only : { ...only, type: [only.type, 'null'] };
}

/** Returns what several schemas of one field have in common: its type, and all values where each lists its own. */
function common([first = {}, ...others]: readonly Schema[]): Schema {
  const values = [first, ...others].map(schema => (schema as Nested).enum ?? [(schema as Nested).const]);
  if (values.flat().includes(undefined) || first.type === 'boolean') return { type: first.type, ...withFormat(first) };
  return { type: first.type, enum: [...new Set(values.flat())] };
}

function withFormat({ format }: Schema): Schema {
  return format === undefined ? {} : { format };
}

function told(description: string | undefined, values: readonly string[]): string {
  const named = values.map(value => `\`${value}\``);
  if (description !== undefined && named.every(name => description.includes(name))) return `${description} ${more}`;
  return [description, `Today: ${named.join(', ')}. ${more}`].filter(part => part !== undefined).join(' ');
}

const more = 'Others may come.';
