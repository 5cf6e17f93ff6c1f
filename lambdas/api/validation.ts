import type * as z from 'zod/mini';
import type { Finding } from './problem.ts';

/** What a body (or query) says, or everything that is wrong with it. */
export interface Reading<T> {
  readonly value: T | undefined;
  readonly findings: readonly Finding[];
}

/** Holds a JSON body, or the parameters of a query, against a schema and gives all findings at once, without repeating a value. */
export function readBody<Schema extends z.ZodMiniType>(schema: Schema, body: unknown): Reading<z.output<Schema>> {
  const result = schema.safeParse(body);
  if (result.success) return { value: result.data, findings: [] };
  return { value: undefined, findings: result.error.issues.flatMap(issue => describeIssue(issue, body)) };
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
      const code = choiceFault(pointer, Object(body)[String(issue.path[0])]);
      return [{ pointer, code, detail: `Must be one of ${issue.values.join(', ')}.` }];
    }
    default:
      return [{ pointer, code: 'invalid_value', detail: `Value ${issue.message}.` }];
  }
}

/** The JSON Pointer (RFC 6901) to a place. */
function pointerTo(path: readonly PropertyKey[]): string {
  return path.map(name => `/${escapePointer(name)}`).join('');
}

/** A choice that is not there: of events there is a code of its own, whatever was given in the place of one. */
function choiceFault(pointer: string, given: unknown): string {
  if (pointer === '/evento') return 'unknown_event';
  return typeof given === 'string' ? 'invalid_value' : 'wrong_type';
}

function escapePointer(name: PropertyKey): string {
  return String(name).replaceAll('~', '~0').replaceAll('/', '~1');
}
