import { isoTime } from '../../platform/clock.ts';
import type { FailureCause } from '../../platform/egress/network-error.ts';
import type { AttemptRecord, AttemptResult } from '../delivery.ts';

/**
 * Encodes the record of an attempt as its number, start (since acceptance), duration, result and response, as in `3,6bfk,xg,1503,Ab3_dE9`.
 * Times are milliseconds in base 36. The result is encoded as its index in `results`, followed by the status or the letter of the cause
 * (`causes`). The response is encoded as a mark.
 */
export function packAttempt(record: AttemptRecord, createdAt: number): string {
  const { number, startedAt, durationMs, result, cause, status, response, responseId } = record;
  const times = [Date.parse(startedAt) - createdAt, durationMs].map(time => time.toString(36));
  const mark = responseId ?? (response ? inHead : response === '' ? empty : '');
  return [number, ...times, `${results.indexOf(result)}${status ?? letterOf(cause)}`, mark].join(',');
}

/** Decodes the record of an attempt. `response` is the response in the head, which belongs to the record with the mark `inHead`. */
export function unpackAttempt(packed: string, createdAt: number, response: string): AttemptRecord {
  const [number, start = '', duration = '', end = '', mark = ''] = packed.split(',');
  return {
    number: Number(number),
    startedAt: isoTime(createdAt + Number.parseInt(start, 36)),
    durationMs: Number.parseInt(duration, 36),
    result: results[Number(end[0])] as AttemptResult,
    cause: causes[end.charCodeAt(1) - firstLetter] ?? null,
    status: Number(end.slice(1)) || null,
    response: mark === inHead ? response : mark === empty ? '' : null,
    ...(mark.length > 1 && { responseId: mark }),
  };
}

/** The mark of a response in the head. Another mark is `empty` or the id of a response item. A record without a response has no mark. */
const inHead = '1';
const empty = '0';

/** Append only, because stored records contain indexes of this list. The format allows at most ten results. */
const results: readonly AttemptResult[] = [
  'delivered',
  'http',
  'timeout',
  'connection',
  'tls',
  'dns',
  'blocked',
  'slow',
  'internal',
];

/** Append only, because stored records contain indexes of this list. The format allows at most 26 causes. */
const causes: readonly FailureCause[] = [
  'refused',
  'reset',
  'invalid_response',
  'large_headers',
  'too_many_bytes',
  'expired_certificate',
  'other_name',
  'incomplete_chain',
  'self_signed',
  'tls_version',
  'unknown_name',
  'no_dns_answer',
  'no_ipv4',
  'connecting',
  'no_headers',
];

function letterOf(cause: FailureCause | null): string {
  return cause ? String.fromCharCode(firstLetter + causes.indexOf(cause)) : '';
}

/** The character code of `a`. */
const firstLetter = 97;
