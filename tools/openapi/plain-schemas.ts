/**
 * Converts a schema for client generators. A nullable type becomes a list of types. A union of objects becomes one object
 * with all fields, and `x-forms` lists the combinations of fields.
 */
export function plain(schema: Schema): Schema {
  const { anyOf, oneOf, properties, items, ...rest } = schema as Nested;
  const variants = anyOf ?? oneOf;
  if (variants) return { ...rest, ...merged(variants.map(plain)) };
  const others = Object.entries(properties ?? {}).map(([name, property]) => [name, plain(property)]);
  const { type } = rest;
  return {
    ...rest,
    ...(Array.isArray(type) && type.length === 2 && type[1] === 'null' && orNull(type[0])),
    ...(properties && { properties: Object.fromEntries(others) }),
    ...(items && { items: plain(items) }),
  };
}

/**
 * Returns a schema that accepts unknown fields and unknown values of an enum. The description and `x-extensible-enum` list
 * the current values.
 */
export function extensible(schema: Schema): Schema {
  const { enum: listed, const: only, properties, items, additionalProperties: _, ...rest } = schema as Nested;
  const values = listed ?? (only === undefined ? [] : [only]);
  const texts = values.filter(value => typeof value === 'string');
  const inner = Object.entries(properties ?? {}).map(([name, property]) => [name, extensible(property)]);
  return {
    ...rest,
    ...(texts.length > 0 && { description: listValues(rest.description, texts), 'x-extensible-enum': texts }),
    ...(properties && { properties: Object.fromEntries(inner), additionalProperties: furtherFields }),
    ...(items && { items: extensible(items) }),
  };
}

/** Accepts additional fields. openapi-generator before 7.18 treats schemas with `true` as closed. */
export const furtherFields = { description: 'Future versions may add fields.' } as const;

/** Merges several object schemas into one. A field is required if all schemas require it. */
export function union(schemas: readonly Schema[]): Schema {
  const forms = schemas as readonly ObjectForm[];
  const names = [...new Set(forms.flatMap(({ properties }) => Object.keys(properties)))];
  const properties = names.map(name => [name, common(forms.flatMap(form => fieldOf(form, name)))]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: names.filter(name => forms.every(({ required = [] }) => required.includes(name))),
    additionalProperties: furtherFields,
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

/** Returns a nullable type. In a schema with further fields, openapi-generator before 7.18 reads only the extension. */
export function orNull(type: unknown): Schema {
  return { type: [type, 'null'], 'x-nullable': true };
}

function fieldOf({ properties }: ObjectForm, name: string): readonly Schema[] {
  const field = properties[name];
  return field ? [field] : [];
}

function merged(variants: readonly Schema[]): Schema {
  const others = variants.filter(({ type }) => type !== 'null');
  const [only = {}] = others;
  if (others.length > 1) return union(others);
  return others.length === variants.length ? only : { ...only, ...orNull(only.type) };
}

/** Returns the common part of several schemas for a field. If each schema lists values, the result contains the values of all. */
function common(schemas: readonly Schema[]): Schema {
  const [first = {}, ...others] = schemas;
  const sharedMembers = Object.entries(first).filter(([name, member]) =>
    others.every(other => JSON.stringify(other[name]) === JSON.stringify(member)),
  );
  const { const: _, enum: __, ...rest } = Object.fromEntries(sharedMembers) as Nested;
  const values = schemas.flatMap(schema => (schema as Nested).enum ?? [(schema as Nested).const]);
  return values.includes(undefined) || first.type === 'boolean' ? rest : { ...rest, enum: [...new Set(values)] };
}

function listValues(description: string | undefined, values: readonly string[]): string {
  const quoted = values.map(value => `\`${value}\``);
  if (description !== undefined && quoted.every(name => description.includes(name))) return `${description} ${more}`;
  return [description, `Current values: ${quoted.join(', ')}. ${more}`].filter(part => part !== undefined).join(' ');
}

const more = 'Future versions may add values.';
