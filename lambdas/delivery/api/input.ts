import * as z from 'zod/mini';
import { dateTime } from '../../api/date-time.ts';
import { type Finding, validationFailed } from '../../api/problem.ts';
import { validate } from '../../api/validation.ts';
import { stateFromWire, wireStates } from '../representation.ts';
import { readCursor } from './cursor.ts';

const limite = z.pipe(
  z.pipe(z.string().check(z.regex(/^\d{1,5}$/, 'must be a whole number from 1 to 100')), z.transform(Number)),
  z.number().check(z.minimum(1, 'must be from 1 to 100'), z.maximum(100, 'must be from 1 to 100')),
);

const cursor = z.pipe(
  z.string(),
  z.transform((text, context) => {
    const after = readCursor(text);
    if (after !== undefined) return after;
    context.issues.push({ code: 'custom', message: 'must be a proximo_cursor of this list', input: text });
    return z.NEVER;
  }),
);

/** The states whose deliveries a replay sends again. */
const replayedState = z.pipe(
  z.enum([wireStates.failed, wireStates.held]),
  z.transform(word => (word === wireStates.failed ? 'failed' : 'held')),
);

/** Judged whatever else is wrong, as long as both ends can be read. */
const rangeRule = {
  path: ['ate'],
  error: 'must be after desde',
  when: ({ issues }: { issues: readonly Issue[] }) => !issues.some(spoilsRange),
};

/** The query of a history: which state, from when, until when, how many, and where to go on. Each may be left out. */
export const historyQuery = z
  .strictObject({
    estado: z.optional(z.pipe(z.enum(Object.values(wireStates)), z.transform(stateFromWire))),
    desde: z.optional(dateTime),
    ate: z.optional(dateTime),
    limite: z._default(limite, 20),
    cursor: z.optional(cursor),
  })
  .check(z.refine(isRange, rangeRule));

/** The body that asks for a replay: which deliveries, by when their events were accepted. */
export const replayRequest = z
  .strictObject({ desde: dateTime, ate: dateTime, estado: replayedState })
  .check(z.refine(isRange, rangeRule));

/**
 * Reads a query string strictly: parameters that are unknown or given twice are refused, empty ones count as absent.
 *
 * @throws {Problem} 422 with every finding.
 */
export function readQuery<Schema extends z.ZodMiniType>(
  schema: Schema,
  known: readonly string[],
  queryString: string,
): z.output<Schema> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  const given: [name: string, text: string][] = [];
  for (const [name, text] of new URLSearchParams(queryString)) {
    if (seen.has(name)) repeated.add(name);
    seen.add(name);
    if (text !== '' || !known.includes(name)) given.push([name, text]);
  }
  const { value, findings } = validate(schema, Object.fromEntries(given));
  // A parameter's name is one step of a pointer, where `~1` stands for a slash and `~0` for a tilde.
  const nameOf = (pointer: string) => pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
  const inQuery = findings.flatMap((finding): Finding[] => {
    if (!('pointer' in finding)) return [finding];
    const { pointer, ...fault } = finding;
    return [{ parameter: nameOf(pointer), ...fault }];
  });
  const twice = [...repeated].map(parameter => ({
    parameter,
    code: 'repeated',
    detail: 'Give this parameter once.',
  }));
  if (value === undefined || twice.length > 0) throw validationFailed([...inQuery, ...twice]);
  return value;
}

/** The names of the parameters of a history. */
export const historyParameters: readonly string[] = Object.keys(historyQuery.shape);

interface Issue {
  readonly code?: string | undefined;
  readonly path?: PropertyKey[] | undefined;
}

function spoilsRange({ code, path: [name] = [] }: Issue): boolean {
  return code !== 'unrecognized_keys' && (name === undefined || name === 'desde' || name === 'ate');
}

/** The end of a range of moments is not part of it, and comes after its beginning. */
function isRange({ desde, ate }: Range): boolean {
  return desde === undefined || ate === undefined || desde < ate;
}

interface Range {
  readonly desde?: number | undefined;
  readonly ate?: number | undefined;
}
