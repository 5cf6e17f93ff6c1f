import { isoTime } from '../../platform/clock.ts';
import type { FailureCause } from '../../platform/egress/network-error.ts';
import type { AttemptRecord, AttemptResult } from '../delivery.ts';

/**
 * Writes an attempt's record in compact form: number, start (since the acceptance), duration, result (its index in `results`) with
 * status or cause (a character, by its index in `causes`), and the location of the response, as in `3,6bfk,xg,1503,Ab3_dE9`. Times are in
 * base 36.
 */
export function packAttempt(record: AttemptRecord, createdAt: number): string {
  const { number, startedAt, durationMs, result, cause, status, response, answerId } = record;
  const times = [Date.parse(startedAt) - createdAt, durationMs].map(time => time.toString(36));
  const mark = answerId ?? (response ? inHead : response === '' ? empty : '');
  return [number, ...times, `${results.indexOf(result)}${status ?? letterOf(cause)}`, mark].join(',');
}

/** Reads an attempt's record. `response` is the response stored in the head. It belongs to the one record whose mark refers to it. */
export function unpackAttempt(packed: string, createdAt: number, response: string): AttemptRecord {
  const [number, began = '', duration = '', ended = '', mark = ''] = packed.split(',');
  return {
    number: Number(number),
    startedAt: isoTime(createdAt + Number.parseInt(began, 36)),
    durationMs: Number.parseInt(duration, 36),
    result: results[Number(ended[0])] as AttemptResult,
    cause: causes[ended.charCodeAt(1) - firstLetter] ?? null,
    status: Number(ended.slice(1)) || null,
    response: mark === inHead ? response : mark === empty ? '' : null,
    ...(mark.length > 1 && { answerId: mark }),
  };
}

/** The marks of a response in the head and of an empty response. Other marks are ids of items. A record without a response has no mark. */
const inHead = '1';
const empty = '0';

/** The stored index refers to this order, so only append. At most ten results are possible. */
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

/** The stored index refers to this order, so only append. At most 26 causes are possible. */
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
