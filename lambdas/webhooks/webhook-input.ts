import * as z from 'zod';
import type { Finding } from './problem.ts';
import { EVENT_NAMES, eventName } from './webhook.ts';

/** Visible ASCII and inner spaces (RFC 9110 section 5.5 allows more; receivers do not). */
const authorization = /^[\x21-\x7e](?:[\x20-\x7e]{0,2046}[\x21-\x7e])?$/;

/** The value for the Authorization header of deliveries; `null` counts as absent. */
const autorizacao = z
  .string()
  .regex(authorization, 'must be 1 to 2048 visible ASCII characters, with spaces only between them')
  .nullish()
  .transform(value => value ?? undefined);

/** The body that registers a webhook. `url` is judged by the URL policy afterwards. */
export const registration = z.strictObject({ evento: eventName, url: z.string(), autorizacao });

/** The body that replaces a webhook. */
export const replacement = z.strictObject({ url: z.string(), autorizacao });

/** The body that asks for a new signing secret. */
export const secretRotation = z.strictObject({ imediato: z.boolean().default(false) });

const escapePointer = (name: PropertyKey): string => String(name).replaceAll('~', '~0').replaceAll('/', '~1');
const pointerTo = (path: readonly PropertyKey[]): string => path.map(name => `/${escapePointer(name)}`).join('');

const describeIssue = (issue: z.core.$ZodIssue, body: unknown): Finding[] => {
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
    case 'invalid_value':
      if (typeof Object(body)[String(issue.path[0])] !== 'string') {
        return [{ pointer, code: 'wrong_type', detail: 'Must be of the JSON type string.' }];
      }
      return [{ pointer, code: 'unknown_event', detail: `Must be one of ${EVENT_NAMES.join(', ')}.` }];
    default:
      return [{ pointer, code: 'invalid_value', detail: `Value ${issue.message}.` }];
  }
};

/** What a body says, or everything that is wrong with it. */
export interface Reading<T> {
  readonly value: T | undefined;
  readonly findings: readonly Finding[];
}

/** Holds a JSON body against a schema and gives all findings at once, without repeating a value. */
export const readBody = <Schema extends z.ZodType>(schema: Schema, body: unknown): Reading<z.output<Schema>> => {
  const result = schema.safeParse(body);
  if (result.success) return { value: result.data, findings: [] };
  return { value: undefined, findings: result.error.issues.flatMap(issue => describeIssue(issue, body)) };
};

/** The `url` of a body, wherever it is a text: it is judged even if other fields are wrong. */
export const urlIn = (body: unknown): string | undefined => {
  const result = z.object({ url: z.string() }).safeParse(body);
  return result.success ? result.data.url : undefined;
};
