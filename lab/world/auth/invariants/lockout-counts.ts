import type { Violate } from '../../invariants/violation.ts';
import { clockError } from '../../times.ts';
import { hashName, type TokenRequest } from '../journal.ts';
import { type LockWrite, lockEnd } from '../lock-model.ts';
import type { Evidence } from './evidence.ts';

/**
 * Checks the failure counts of addresses. Each wrong password must count once for its address, and also for its client
 * unless a lock rejected the login. A success must clear the count.
 */
export function checkLockoutCounts(evidence: Evidence, violate: Violate): void {
  const { watched, journal } = evidence.world;
  const clientWrites = watched.writesOf('Lockouts').filter(({ key }) => String(key.pk).startsWith('client#'));
  const countedForClient = new Set(clientWrites.map(journal.requestOf));
  const byRequest = Map.groupBy(evidence.locks.writes, ({ request }) => request);
  for (const request of evidence.requests) {
    if (request.form.grant_type !== 'password') continue;
    checkCount(request, byRequest.get(request) ?? [], evidence, violate);
    const isLockRejection = String(evidence.reasonOf(request)).startsWith('user_locked');
    const isCounted = countedForClient.has(request);
    if (isCounted && isLockRejection) violate('a login rejected by a lock counts for its client', request.id);
    if (!isCounted && !isLockRejection && evidence.isFaultFree(request) && isVerified(request, evidence))
      violate('a rejected password does not count for its client', request.id);
  }
  checkSteps(evidence, violate);
}

/** Checks how often one login counts as a failure. Only the audit log, not the response, shows whether the service verified the password. */
function checkCount(request: TokenRequest, writes: readonly LockWrite[], evidence: Evidence, violate: Violate): void {
  const { id, response, calls } = request;
  const failures = writes.filter(({ kind }) => kind === 'failure').length;
  const successes = writes.length - failures;
  if (response?.status === 200 && (failures > 0 || successes === 0))
    violate('a granted login is not recorded as a success', id);
  if (!response || response.status >= 500 || response.status === 200) {
    if (failures > maxCountOf(request)) violate('a failure counts too often', id);
    return;
  }
  const reason = evidence.reasonOf(request);
  const wasVerified = isVerified(request, evidence);
  const hashes = calls.filter(({ name }) => name === hashName).length;
  if (hashes !== 1 && wasVerified) violate(`a rejected login computed ${hashes} hashes`, id);
  const limit = evidence.locks.limitOf(request);
  if (response.status === 429 ? limit === 'never' : limit === 'always' && wasVerified)
    violate(`status ${response.status}, but the client limit was ${limit} reached`, id);
  if (!wasVerified && failures > 0) violate(`a login rejected as ${reason} counts as a failure`, id);
  if (wasVerified && failures === 0) violate('a failure does not count', id);
  if (wasVerified && failures > maxCountOf(request)) violate('a failure counts too often', id);
  if (reason === 'user_locked' && writes.length > 0) violate('a login rejected by a lock wrote to the table', id);
  if (reason === 'user_locked' && hashes > 0) violate('a login rejected by a lock computed a hash', id);
}

function isVerified(request: TokenRequest, { reasonOf }: Evidence): boolean {
  return verifiedReasons.has(reasonOf(request) ?? '');
}

/** Returns the maximum count for one failure. A write that the SDK retries may count twice if other logins failed in between. */
function maxCountOf({ calls }: TokenRequest): number {
  const writes = calls.filter(({ name }) => name === 'Update Lockouts');
  return 1 + writes.reduce((sum, { attempts = 3 }) => sum + attempts - 1, 0);
}

const verifiedReasons = new Set([
  'user_unknown',
  'password_wrong',
  'password_changed',
  'user_disabled',
  'account_of_another_client',
  'user_locked_during_login',
]);

function checkSteps({ locks }: Evidence, violate: Violate): void {
  for (const { before, item, at, kind, request, expectedFailures } of locks.writes) {
    const isSuccess = kind === 'success';
    if (isSuccess && lockEnd(before) > at + clockError) violate('a success was recorded during a lock', request.id);
    if (Number(item?.failures ?? 0) !== expectedFailures)
      violate(isSuccess ? 'failures remain after a success' : 'a failure does not count as one', request.id);
  }
}
