import * as z from 'zod/mini';
import { message } from '../api/findings.ts';
import { webhookFindings } from './findings.ts';
import { eventNameSchema } from './webhook.ts';

/** Matches visible ASCII with inner spaces. RFC 9110 section 5.5 allows other characters, which some receivers reject. */
const authorization = /^[\x21-\x7e](?:[\x20-\x7e]{0,2046}[\x21-\x7e])?$/;

/** Matches a value that repeats the header name. Responses do not contain the value, so integrators would not notice this mistake. */
const headerName = /^\s*authorization\s*:/i;

/** The value of the Authorization header of deliveries. `null` is treated as absent. */
const autorizacao = z.pipe(
  z.nullish(
    z.string().check(
      z.refine(value => !headerName.test(value), { error: message(webhookFindings.header_name), abort: true }),
      z.regex(authorization, message(webhookFindings.autorizacao)),
    ),
  ),
  z.transform(value => value ?? undefined),
);

/** The body that registers a webhook. `url-validation.ts` checks its `url`. */
export const registration = z.strictObject({ evento: eventNameSchema, url: z.string(), autorizacao });

export const replacement = z.strictObject({ url: z.string(), autorizacao });

/** The body of a request for a new signing secret. */
export const secretRotation = z.strictObject({ imediato: z._default(z.boolean(), false) });

/** Returns the `url` of a body if it is a string. The caller validates the URL even if other fields are invalid. */
export function urlIn(body: unknown): string | undefined {
  const result = z.object({ url: z.string() }).safeParse(body);
  return result.success ? result.data.url : undefined;
}
