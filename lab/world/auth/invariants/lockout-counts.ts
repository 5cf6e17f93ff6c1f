import type { Violate } from '../../invariants/violation.ts';
import { clockError } from '../../times.ts';
import { hashName, type TokenRequest } from '../journal.ts';
import { type LockWrite, lockEnd } from '../lock-model.ts';
import type { Evidence } from './evidence.ts';

/**
 * Judges the failure counts of addresses. Each judged failure counts exactly once, and a success clears the count. A
 * judged failure costs one hash, and counts for its client unless a lock rejected it.
 */
export function judgeLockoutCounts(evidence: Evidence, violate: Violate): void {
  const { watched, journal } = evidence.world;
  const ofClients = watched.writesOf('Lockouts').filter(({ key }) => String(key.pk).startsWith('client#'));
  const countedForClient = new Set(ofClients.map(journal.authorOf));
  const byRequest = Map.groupBy(evidence.locks.writes, ({ request }) => request);
  for (const request of evidence.requests) {
    if (request.form.grant_type !== 'password') continue;
    judgeCount(request, byRequest.get(request) ?? [], evidence, violate);
    const isByLock = String(evidence.reasonOf(request)).startsWith('user_locked');
    const isCounted = countedForClient.has(request);
    if (isCounted && isByLock) violate('a refusal by a lock counts for its client', request.id);
    if (!isCounted && !isByLock && evidence.isCalm(request) && isJudged(request, evidence))
      violate('a refused password does not count for its client', request.id);
  }
  judgeSteps(evidence, violate);
}

/** Only the audit trail shows whether a password was judged. The response does not. */
function judgeCount(request: TokenRequest, writes: readonly LockWrite[], evidence: Evidence, violate: Violate): void {
  const { id, answer, calls } = request;
  const failures = writes.filter(({ kind }) => kind === 'failure').length;
  const successes = writes.length - failures;
  if (answer?.status === 200 && (failures > 0 || successes === 0))
    violate('a login was granted that is not recorded as a success', id);
  if (!answer || answer.status >= 500 || answer.status === 200) {
    if (failures > maxTimes(request)) violate('a failure counts too often', id);
    return;
  }
  const reason = evidence.reasonOf(request);
  const wasJudged = isJudged(request, evidence);
  const hashes = calls.filter(({ name }) => name === hashName).length;
  if (hashes !== 1 && wasJudged) violate(`a refused password costs ${hashes} hashes`, id);
  const limit = evidence.locks.limitOf(request);
  if (answer.status === 429 ? limit === 'never' : limit === 'always' && wasJudged)
    violate(`${answer.status} with the limit of a client reached ${limit}`, id);
  if (!wasJudged && failures > 0) violate(`a login refused as ${reason} counts`, id);
  if (wasJudged && failures === 0) violate('a failure does not count', id);
  if (wasJudged && failures > maxTimes(request)) violate('a failure counts too often', id);
  if (reason === 'user_locked' && writes.length > 0) violate('a login that found a lock wrote', id);
  if (reason === 'user_locked' && hashes > 0) violate('a login that found a lock costs a hash', id);
}

function isJudged(request: TokenRequest, { reasonOf }: Evidence): boolean {
  return judgedReasons.has(reasonOf(request) ?? '');
}

/** A write that the SDK repeats may count twice if other logins failed in between. */
function maxTimes({ calls }: TokenRequest): number {
  const writes = calls.filter(({ name }) => name === 'Update Lockouts');
  return 1 + writes.reduce((sum, { attempts = 3 }) => sum + attempts - 1, 0);
}

const judgedReasons = new Set([
  'user_unknown',
  'password_wrong',
  'password_changed',
  'user_disabled',
  'account_of_another_client',
  'user_locked_meanwhile',
]);

function judgeSteps({ locks }: Evidence, violate: Violate): void {
  for (const { before, item, at, kind, request, counted } of locks.writes) {
    const isSuccess = kind === 'success';
    if (isSuccess && lockEnd(before) > at + clockError) violate('a success was recorded under a lock', request.id);
    if (Number(item?.failures ?? 0) !== counted)
      violate(isSuccess ? 'a success leaves failures' : 'a failure is not counted as one', request.id);
  }
}
