import * as z from 'zod/mini';

/** What moments are clamped to: beyond these years their text no longer sorts by time. */
const earliest = Date.parse('0000-01-01T00:00:00Z');
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** RFC 3339 section 5.6, which wants seconds and an offset; the calendar is judged by the schema. */
const rfc3339 = /^[0-9-]{10}[Tt][0-9:]{8}(?:\.[0-9]+)?(?:[Zz]|[+-][0-9:]{5})$/;

const message = 'must be a date and time as in RFC 3339, with Z or an offset';

/**
 * A moment as in RFC 3339, in milliseconds since the epoch, rounded up: what is counted in whole milliseconds is before the
 * moment, or not, exactly when it is before this.
 */
export const moment = z.pipe(
  z.pipe(
    z.string().check(z.regex(rfc3339, message)),
    z.transform(text => text.toUpperCase()),
  ),
  z.pipe(
    z.iso.datetime({ offset: true, error: message }),
    z.transform(text => {
      const isCut = /\.[0-9]{3}[0-9]*[1-9]/.test(text);
      return Math.min(Math.max(Date.parse(text) + (isCut ? 1 : 0), earliest), latest);
    }),
  ),
);
