import * as z from 'zod/mini';
import { validationFailed } from '../webhooks/problem.ts';
import { pointerTo, readBody } from '../webhooks/read-body.ts';
import { readCursor } from './history-cursor.ts';

const states = ['pendente', 'entregue', 'falhou', 'retida', 'cancelada'] as const;

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

/** The query of a history: which state, how many, and where to go on. Each may be left out. */
export const historyQuery = z.strictObject({
  estado: z.optional(z.enum(states)),
  limite: z._default(limite, 20),
  cursor: z.optional(cursor),
});

const moment = z.pipe(
  z.iso.datetime({ offset: true, error: 'must be a date and time as in RFC 3339, with Z or an offset' }),
  z.transform(text => Date.parse(text)),
);

/** The body that asks for a replay: which deliveries, by when their events were accepted (both ends included). */
export const replayRequest = z.strictObject({ desde: moment, ate: moment, estado: z.enum(['falhou', 'retida']) }).check(
  z.refine(({ desde, ate }) => desde <= ate, {
    path: ['ate'],
    error: 'must not be before desde',
    when: ({ issues }) => issues.length === 0,
  }),
);

/**
 * Reads a query string strictly: parameters that are unknown or given twice are refused, empty ones count as absent.
 *
 * @throws {Problem} 422 with every finding.
 */
export const readQuery = <Schema extends z.ZodMiniType>(schema: Schema, queryString: string): z.output<Schema> => {
  const parameters = [...new URLSearchParams(queryString)].filter(([, text]) => text !== '');
  const names = parameters.map(([name]) => name);
  const repeated = new Set(names.filter((name, at) => names.indexOf(name) < at));
  const { value, findings } = readBody(schema, Object.fromEntries(parameters));
  const twice = [...repeated].map(name => ({
    pointer: pointerTo([name]),
    code: 'repeated',
    detail: 'Give this parameter once.',
  }));
  if (value === undefined || twice.length > 0) throw validationFailed([...findings, ...twice]);
  return value;
};
