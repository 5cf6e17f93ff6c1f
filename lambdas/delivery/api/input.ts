import * as z from 'zod/mini';
import { dateTime, queryDateTime } from '../../api/date-time.ts';
import { type Finding, finding, message } from '../../api/findings.ts';
import type { MakeProblem } from '../../api/problem.ts';
import { validate } from '../../api/validation.ts';
import { stateFromWire, wireStates } from '../representation.ts';
import { decodeCursor } from './cursor.ts';
import { deliveryFindings } from './findings.ts';

const limite = z.pipe(
  z.pipe(z.string().check(z.regex(/^\d{1,5}$/, message(deliveryFindings.limite_number))), z.transform(Number)),
  z
    .number()
    .check(
      z.minimum(1, message(deliveryFindings.limite_range)),
      z.maximum(100, message(deliveryFindings.limite_range)),
    ),
);

const cursor = z.pipe(
  z.string(),
  z.transform((text, context) => {
    const listKey = decodeCursor(text);
    if (listKey !== undefined) return listKey;
    context.issues.push({ code: 'custom', message: message(deliveryFindings.cursor), input: text });
    return z.NEVER;
  }),
);

/** The states of deliveries that a replay can resend. */
const replayedState = z.pipe(
  z.enum([wireStates.failed, wireStates.held]),
  z.transform(word => (word === wireStates.failed ? 'failed' : 'held')),
);

/** The rule for the two times in a range. The schema checks it if both times are valid, even if other fields are invalid. */
const rangeRule = {
  path: ['ate'],
  error: message(deliveryFindings.range),
  when: ({ issues }: { issues: readonly Issue[] }) => !issues.some(isRangeIssue),
};

/** The optional query parameters of the history. */
export const historyQuery = z
  .strictObject({
    estado: z.optional(z.pipe(z.enum(Object.values(wireStates)), z.transform(stateFromWire))),
    desde: z.optional(queryDateTime),
    ate: z.optional(queryDateTime),
    limite: z._default(limite, 20),
    cursor: z.optional(cursor),
  })
  .check(z.refine(isRange, rangeRule));

/** The body of a request to start a replay. It selects events that were accepted from `desde` up to, but excluding, `ate`. */
export const replayRequest = z
  .strictObject({ desde: dateTime, ate: dateTime, estado: replayedState })
  .check(z.refine(isRange, rangeRule));

/**
 * Parses a query string strictly. Rejects unknown and repeated parameters, and treats empty parameters as absent.
 *
 * @throws {Problem} 422 with all findings.
 */
export function parseQuery<Schema extends z.ZodMiniObject>(
  schema: Schema,
  queryString: string,
  makeProblem: MakeProblem<'validation_failed'>,
): z.output<Schema> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  const parameters: [name: string, text: string][] = [];
  for (const [name, text] of new URLSearchParams(queryString)) {
    if (seen.has(name)) repeated.add(name);
    seen.add(name);
    if (text !== '' || !Object.hasOwn(schema.shape, name)) parameters.push([name, text]);
  }
  const { value, findings } = validate(schema, Object.fromEntries(parameters));
  const errors = [
    ...findings.map(toParameterFinding),
    ...[...repeated].map(parameter => finding({ parameter }, deliveryFindings.repeated)),
  ];
  if (value === undefined || errors.length > 0) throw makeProblem('validation_failed', { errors });
  return value;
}

interface Issue {
  readonly code?: string | undefined;
  readonly path?: PropertyKey[] | undefined;
}

function isRangeIssue({ code, path: [name] = [] }: Issue): boolean {
  return code !== 'unrecognized_keys' && (name === undefined || name === 'desde' || name === 'ate');
}

/** Returns whether a range is not empty. A range includes its start and excludes its end. */
function isRange({ desde, ate }: { desde?: number | undefined; ate?: number | undefined }): boolean {
  return desde === undefined || ate === undefined || desde < ate;
}

/** Replaces a finding's JSON Pointer, which escapes slashes and tildes (RFC 6901 section 3), with the query parameter's name. */
function toParameterFinding(source: Finding): Finding {
  if (!('pointer' in source)) return source;
  const { pointer, ...reason } = source;
  const parameter = pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
  if (reason.code === 'unknown_field') return finding({ parameter }, deliveryFindings.unknown_parameter);
  return { parameter, ...reason };
}
