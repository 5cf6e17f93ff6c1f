import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Attributes } from './attribute-values.ts';
import { validationError } from './errors.ts';
import type { Operand, Parsed, Path } from './syntax.ts';

/** What a request's placeholders stand for. */
export interface Placeholders {
  readonly names: Readonly<Record<string, string>>;
  readonly values: Attributes;
}

/**
 * Returns what the placeholders of a request stand for.
 *
 * @throws ValidationException where an expression has one that is not given, or one is given that no expression has.
 */
export function bindPlaceholders(
  { names = {}, values = {} }: Partial<Placeholders>,
  parsed: readonly (Parsed<unknown> | undefined)[],
): Placeholders {
  const used = { names: 0, values: 0 };
  const [first, ...others] = parsed.filter(each => each !== undefined);
  const expressions = others.length === 0 ? first : first && together([first, ...others]);
  for (const name of expressions?.names ?? []) {
    if (names[name] === undefined) throw undefinedPlaceholder('name used in the document path', 'name', name);
    used.names += 1;
  }
  for (const value of expressions?.values ?? []) {
    if (values[value] === undefined) throw undefinedPlaceholder('value used in expression', 'value', value);
    used.values += 1;
  }
  if (used.names < Object.keys(names).length) throw unused('Names', names, expressions?.names);
  if (used.values < Object.keys(values).length) throw unused('Values', values, expressions?.values);
  return { names, values };
}

/** Returns a path with the names that its placeholders stand for. */
export function resolvePath(path: Path, { names }: Placeholders): Path {
  return path.map(step => (typeof step === 'string' ? resolveName(step, names) : step));
}

/** Returns the value of the request that an operand is; `undefined` for an attribute. */
export function valueGiven(operand: Operand, { values }: Placeholders): AttributeValue | undefined {
  return operand.kind === 'value' ? values[operand.placeholder] : undefined;
}

/** Returns the name of the attribute at which a path begins. */
export function attributeOf(path: Path, { names }: Placeholders): string {
  return resolveName(String(path[0]), names);
}

/** Returns the names of all attributes of which expressions speak. */
export function attributesOf(parsed: Parsed<unknown>, { names }: Placeholders): string[] {
  return [...parsed.words, ...[...parsed.names].map(name => resolveName(name, names))];
}

function resolveName(step: string, names: Placeholders['names']): string {
  return step.startsWith('#') ? (names[step] ?? step) : step;
}

function together(parsed: readonly Parsed<unknown>[]): Pick<Parsed<unknown>, 'names' | 'values'> {
  return {
    names: new Set(parsed.flatMap(({ names }) => [...names])),
    values: new Set(parsed.flatMap(({ values }) => [...values])),
  };
}

function undefinedPlaceholder(use: string, kind: string, placeholder: string): Error {
  return validationError(`An expression attribute ${use} is not defined; attribute ${kind}: ${placeholder}`);
}

function unused(kind: string, given: object, used: ReadonlySet<string> = new Set()): Error {
  const keys = Object.keys(given).filter(placeholder => !used.has(placeholder));
  return validationError(
    `Value provided in ExpressionAttribute${kind} unused in expressions: keys: {${keys.join(', ')}}`,
  );
}
