import type * as z from 'zod/mini';
import { apiFindings, type Finding, finding, findingOf } from './findings.ts';
import type { MakeProblem } from './problem.ts';

/** Validates a JSON body or query parameters. Returns the value or all findings. Findings never repeat values. */
export function validate<Schema extends z.ZodMiniType>(schema: Schema, body: unknown): Validation<z.output<Schema>> {
  const result = schema.safeParse(body);
  if (result.success) return { value: result.data, findings: [] };
  return { value: undefined, findings: result.error.issues.flatMap(issue => describeIssue(issue, body)) };
}

/**
 * Returns the valid value of a JSON body.
 *
 * @throws {Problem} 422 with all findings.
 */
export function requireValid<Schema extends z.ZodMiniType>(
  schema: Schema,
  body: unknown,
  makeProblem: MakeProblem<'validation_failed'>,
): z.output<Schema> {
  const { value, findings } = validate(schema, body);
  if (value === undefined) throw makeProblem('validation_failed', { errors: findings });
  return value;
}

/** A valid value, or all findings on an invalid one. */
interface Validation<Value> {
  readonly value: Value | undefined;
  readonly findings: readonly Finding[];
}

function describeIssue(issue: z.core.$ZodIssue, body: unknown): Finding[] {
  const pointer = pointerTo(issue.path);
  const isMissing = issue.path.length === 1 && !Object.hasOwn(Object(body), String(issue.path[0]));
  if (isMissing) return [finding({ pointer }, apiFindings.required)];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map(key => finding({ pointer: pointerTo([...issue.path, key]) }, apiFindings.unknown_field));
    case 'invalid_type':
      return [finding({ pointer }, typeFinding(issue.expected))];
    case 'invalid_value': {
      const choice = choiceFinding(pointer, Object(body)[String(issue.path[0])]);
      return [finding({ pointer }, choice, { values: issue.values.join(', ') })];
    }
    default:
      return [findingOf({ pointer }, issue.message)];
  }
}

/** Returns the finding on a value of the wrong type. Body schemas contain only objects, booleans and strings. */
function typeFinding(expected: string) {
  if (expected === 'object') return apiFindings.object_type;
  return expected === 'boolean' ? apiFindings.boolean_type : apiFindings.string_type;
}

/** Returns the path as a JSON Pointer (RFC 6901). */
function pointerTo(path: readonly PropertyKey[]): string {
  return path.map(name => `/${escapePointer(name)}`).join('');
}

/** Returns the finding on a value that is not one of the choices. Unknown events have their own finding. */
function choiceFinding(pointer: string, value: unknown) {
  if (pointer === '/evento') return apiFindings.event;
  return typeof value === 'string' ? apiFindings.choice : apiFindings.choice_type;
}

function escapePointer(name: PropertyKey): string {
  return String(name).replaceAll('~', '~0').replaceAll('/', '~1');
}
