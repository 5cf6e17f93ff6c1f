import * as z from 'zod/mini';
import { apiFindings, message } from './findings.ts';

/** Matches the form of a `date-time` (RFC 3339 section 5.6). The schema also checks that the date exists. */
const rfc3339 = /^[0-9-]{10}[Tt][0-9:]{8}(?:\.[0-9]+)?(?:[Zz]|[+-][0-9:]{5})$/;

/** Matches times from generated clients: with a space instead of `T`, a space before the offset, or an offset without a colon. */
const clientFormat = /^([0-9-]{10})[Tt ]([0-9:]{8}(?:\.[0-9]+)?) ?(?:[Zz]|([+-][0-9]{2}):?([0-9]{2}))$/;

/** Matches such times if the `+` of the offset was not percent-encoded, because query decoding converts `+` to a space. */
const unencodedPlus = /^[0-9-]{10}[Tt ][0-9:]{8}(?:\.[0-9]+)? {1,2}[0-9]{2}:?[0-9]{2}$/;

const error = message(apiFindings.date_time);

/** The range of supported times. RFC 3339 strings outside this range do not sort chronologically. */
const earliest = Date.parse('0000-01-01T00:00:00Z');
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Converts an RFC 3339 date-time to milliseconds since the epoch, rounded up. A whole millisecond is before the result only if it is
 * before the exact time.
 */
export const dateTime = z.pipe(
  z.pipe(
    z.string().check(z.regex(rfc3339, error)),
    z.transform(text => text.toUpperCase()),
  ),
  z.pipe(
    z.iso.datetime({ offset: true, error }),
    z.transform(text => {
      const hasFraction = /\.[0-9]{3}[0-9]*[1-9]/.test(text); // a fraction of a millisecond, which Date.parse drops
      return Math.min(Math.max(Date.parse(text) + (hasFraction ? 1 : 0), earliest), latest);
    }),
  ),
);

/** Converts a `dateTime` in a query. Also accepts the formats of generated clients. */
export const queryDateTime = z.pipe(
  z.pipe(
    z
      .string()
      .check(z.refine(text => !unencodedPlus.test(text), { error: message(apiFindings.plus_sign), abort: true })),
    z.transform(toRfc3339),
  ),
  dateTime,
);

/** Converts the formats of generated clients to RFC 3339. Returns other strings unchanged. */
function toRfc3339(text: string): string {
  const [, date, time, hours, minutes] = clientFormat.exec(text) ?? [];
  if (date === undefined) return text;
  return `${date}T${time}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`;
}
