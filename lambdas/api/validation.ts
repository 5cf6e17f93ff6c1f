import type * as z from 'zod/mini';
import { type Finding, validationFailed } from './problem.ts';

/** Validates a JSON body, or the parameters of a query. Gives all findings at once, and repeats no value. */
export function validate<Schema extends z.ZodMiniType>(schema: Schema, body: unknown): Validation<z.output<Schema>> {
  const result = schema.safeParse(body);
  if (result.success) return { value: result.data, findings: [] };
  return { value: undefined, findings: result.error.issues.flatMap(issue => describeIssue(issue, body)) };
}

/**
 * Validates a JSON body.
 *
 * @throws {Problem} 422 with every finding.
 */
export function requireValid<Schema extends z.ZodMiniType>(schema: Schema, body: unknown): z.output<Schema> {
  const { value, findings } = validate(schema, body);
  if (value === undefined) throw validationFailed(findings);
  return value;
}

/** A valid value, or everything that is wrong with it. */
interface Validation<T> {
  readonly value: T | undefined;
  readonly findings: readonly Finding[];
}

function describeIssue(issue: z.core.$ZodIssue, body: unknown): Finding[] {
  const pointer = pointerTo(issue.path);
  const isMissing = issue.path.length === 1 && !Object.hasOwn(Object(body), String(issue.path[0]));
  if (isMissing) return [{ pointer, code: 'required', detail: 'This field is required.' }];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map(key => ({
        pointer: pointerTo([...issue.path, key]),
        code: 'unknown_field',
        detail: 'There is no such field here.',
      }));
    case 'invalid_type':
      return [{ pointer, code: 'wrong_type', detail: `Must be of the JSON type ${issue.expected}.` }];
    case 'invalid_value': {
      const code = choiceCode(pointer, Object(body)[String(issue.path[0])]);
      return [{ pointer, code, detail: `Must be one of ${issue.values.join(', ')}.` }];
    }
    default:
      return [{ pointer, code: 'invalid_value', detail: `Value ${issue.message}.` }];
  }
}

/** The path as a JSON Pointer (RFC 6901). */
function pointerTo(path: readonly PropertyKey[]): string {
  return path.map(name => `/${escapePointer(name)}`).join('');
}

/** The code of a value that is none of the choices; an unknown event has a code of its own, whatever was given. */
function choiceCode(pointer: string, given: unknown): string {
  if (pointer === '/evento') return 'unknown_event';
  return typeof given === 'string' ? 'invalid_value' : 'wrong_type';
}

function escapePointer(name: PropertyKey): string {
  return String(name).replaceAll('~', '~0').replaceAll('/', '~1');
}
