import * as z from 'zod/mini';

/** The definition of a field. Its schemas, documentation, tests and command-line option are generated from it. */
export type EventField = IntegerField | TextField;

/** A whole number from 1 to 2^53 - 1. */
interface IntegerField extends AnyField {
  readonly kind: 'integer';
  readonly example: number;
}

/** A string of at least one character. */
interface TextField extends AnyField, TextLimits {
  readonly kind: 'text';
  readonly example: string;
}

interface AnyField {
  /** True if publishers may omit the field. A delivery then omits it, too. */
  readonly optional?: true;
  /** The value in the documentation. */
  readonly example: FieldValue;
  /** The meaning of the field, without a full stop. */
  readonly description: string;
  /** The name of the field's option in `ops publish`. */
  readonly option: string;
}

export interface TextLimits {
  /** The maximum number of code points, as in JSON Schema. JavaScript's `length` counts UTF-16 units. */
  readonly maxLength: number;
  /** The pattern that the whole string must match. `checkPattern` in `tools/openapi` limits the syntax. */
  readonly pattern?: RegExp;
}

export type FieldValue = number | string;

/** Returns the schema for a field in messages from publishers. Its error describes the valid values. */
export function sentField(field: EventField): z.ZodMiniType<FieldValue | undefined> {
  const value = field.kind === 'integer' ? positiveInteger : textSchema(field);
  return field.optional ? z.optional(value) : value;
}

/** Returns the schema for a field in deliveries, which include tests. */
export function deliveredField(field: EventField): z.ZodMiniType<FieldValue | undefined> {
  const value = field.kind === 'integer' ? z.int().check(z.gte(sampleInteger)) : textSchema(field);
  return field.optional ? z.optional(value) : value;
}

/** Returns the value of a field in tests. */
export function sampleOf(field: EventField): FieldValue {
  return field.kind === 'integer' ? sampleInteger : field.example;
}

/** Returns the schema for a string. Its error describes all limits. */
export function textSchema({ maxLength, pattern }: TextLimits) {
  const characters = `must be a string of 1 to ${maxLength} characters`;
  const expected = pattern ? `${characters} that matches ${pattern.source}` : characters;
  return z.string(expected).check(
    z.refine(text => isWithin(text, maxLength) && (pattern?.test(text) ?? true), expected),
    z.meta({ minLength: 1, maxLength, ...(pattern && { pattern: pattern.source }) }),
  );
}

/** The value of integer fields in tests. Events never contain it. */
const sampleInteger = 0;

const notPositiveInteger = 'must be a whole number from 1 to 2^53 - 1';

const positiveInteger = z.int(notPositiveInteger).check(z.gte(1, notPositiveInteger));

/** Returns whether a string has 1 to `maxLength` code points. Skips the count if the string has over twice as many UTF-16 units. */
function isWithin(text: string, maxLength: number): boolean {
  return text !== '' && text.length <= 2 * maxLength && [...text].length <= maxLength;
}
