import * as z from 'zod/mini';

/** The description of a field, from which schemas, documents, tests and the command line are generated. */
export type EventField = IntegerField | TextField;

/** A whole number from 1 to 2^53 - 1. */
interface IntegerField extends AnyField {
  readonly kind: 'integer';
  readonly example: number;
}

/** A text of at least one character. */
interface TextField extends AnyField, TextLimits {
  readonly kind: 'text';
  readonly example: string;
}

interface AnyField {
  /** True if publishers may omit the field. Receivers then do not receive it. */
  readonly optional?: true;
  /** The value in documents. */
  readonly example: FieldValue;
  /** The meaning of the field, as a sentence without its full stop. */
  readonly description: string;
  /** The name of its option in `ops publish`. */
  readonly option: string;
}

export interface TextLimits {
  /** The maximum number of characters, in code points as in JSON Schema. JavaScript counts UTF-16 units. */
  readonly maxLength: number;
  /** The pattern of the whole text, restricted as `checkPattern` in `tools/openapi` requires. */
  readonly pattern?: RegExp;
}

export type FieldValue = number | string;

/** Returns the schema of a field as publishers send it. Its error describes the valid values. */
export function sentField(field: EventField): z.ZodMiniType<FieldValue | undefined> {
  const value = field.kind === 'integer' ? positiveInteger : textSchema(field);
  return field.optional ? z.optional(value) : value;
}

/** Returns the schema of a field as receivers see it, in an event or a test. */
export function deliveredField(field: EventField): z.ZodMiniType<FieldValue | undefined> {
  const value = field.kind === 'integer' ? z.int().check(z.gte(sampleInteger)) : textSchema(field);
  return field.optional ? z.optional(value) : value;
}

/** Returns the value of a field in tests. */
export function sampleOf(field: EventField): FieldValue {
  return field.kind === 'integer' ? sampleInteger : field.example;
}

/** Returns the schema of a text, whose one error names all of its limits. */
export function textSchema({ maxLength, pattern }: TextLimits) {
  const characters = `must be a string of 1 to ${maxLength} characters`;
  const expected = pattern ? `${characters} that matches ${pattern.source}` : characters;
  return z.string(expected).check(
    z.refine(text => isWithin(text, maxLength) && (pattern?.test(text) ?? true), expected),
    z.meta({ minLength: 1, maxLength, ...(pattern && { pattern: pattern.source }) }),
  );
}

/** The number in tests. Events never have it. */
const sampleInteger = 0;

const notPositiveInteger = 'must be a whole number from 1 to 2^53 - 1';

const positiveInteger = z.int(notPositiveInteger).check(z.gte(1, notPositiveInteger));

/** Returns whether a text has at most that many code points. It does not count a text that has over twice as many UTF-16 units. */
function isWithin(text: string, maxLength: number): boolean {
  return text !== '' && text.length <= 2 * maxLength && [...text].length <= maxLength;
}
