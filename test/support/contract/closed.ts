/**
 * Returns a document whose schemas of answers and events are closed: what is published accepts any field and any value of a list,
 * the service is held to those of today. Of the forms of a schema one must be met.
 */
export function closed<Part>(part: Part): Part {
  if (Array.isArray(part)) return part.map(closed) as Part;
  if (typeof part !== 'object' || part === null) return part;
  const inner = Object.fromEntries(Object.entries(part).map(([name, member]) => [name, closed(member)]));
  return { ...inner, ...ownRules(part) } as Part;
}

function ownRules(schema: OpenSchema): object {
  const { additionalProperties, 'x-extensible-enum': values, 'x-forms': forms } = schema;
  const isNullable = Array.isArray(schema.type) && schema.type.includes('null');
  return {
    ...(typeof additionalProperties === 'object' && { additionalProperties: false }),
    ...(values && { enum: isNullable ? [...values, null] : values }),
    ...(forms && { anyOf: forms.map(onlyForm) }),
  };
}

function onlyForm({ required, optional }: Form): object {
  return { required, propertyNames: { enum: [...required, ...optional] } };
}

interface OpenSchema {
  readonly type?: unknown;
  readonly additionalProperties?: unknown;
  readonly 'x-extensible-enum'?: readonly string[];
  readonly 'x-forms'?: readonly Form[];
}

interface Form {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}
