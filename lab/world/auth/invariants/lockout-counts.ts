import type { Violate } from '../../invariants/violation.ts';
import { clockError, type TokenRequest } from '../journal.ts';
import { day, failuresIn, type LockWrite } from '../lock-model.ts';
import type { Evidence } from './evidence.ts';

/** Judges what was counted against addresses: each judged failure once, nothing else, and a success clears what came before it. */
export function judgeLockoutCounts(evidence: Evidence, violate: Violate): void {
  const byRequest = Map.groupBy(evidence.locks.writes, ({ request }) => request);
  for (const request of evidence.requests) {
    if (request.form.grant_type === 'password') judgeCount(request, byRequest.get(request) ?? [], evidence, violate);
  }
  judgeSteps(evidence, violate);
}

/** The trail says whether a password was judged: the answer tells nobody. */
function judgeCount(request: TokenRequest, writes: readonly LockWrite[], evidence: Evidence, violate: Violate): void {
  const { id, answer, calls } = request;
  const failures = writes.filter(({ kind }) => kind === 'failure').length;
  const successes = writes.length - failures;
  if (answer?.status === 200 && (failures > 0 || successes === 0))
    violate('a login was granted that is not committed as a success', id);
  if (!answer || answer.status >= 500 || answer.status === 200) {
    if (failures > mostTimes(request)) violate('a failure counts too often', id);
    return;
  }
  const reason = evidence.reasonOf(request);
  const isJudged = judgedReasons.has(reason ?? '');
  if (!isJudged && failures > 0) violate(`a login counts that was refused as ${reason}`, id);
  if (isJudged && failures === 0) violate('a failure does not count', id);
  if (isJudged && failures > mostTimes(request)) violate('a failure counts too often', id);
  if (
    reason === 'user_locked' &&
    calls.some(({ name }) => name.startsWith('Update Lockouts')) &&
    successes + failures > 0
  ) {
    violate('a login that found a lock wrote', id);
  }
}

/** A write that the SDK repeats may count again where others failed in between. */
function mostTimes({ calls }: TokenRequest): number {
  return Math.max(1, ...calls.filter(({ name }) => name === 'Update Lockouts').map(({ attempts = 3 }) => attempts));
}

const judgedReasons = new Set([
  'user_unknown',
  'email_given_up',
  'password_wrong',
  'password_changed',
  'user_disabled',
  'account_of_another_client',
]);

function judgeSteps({ locks }: Evidence, violate: Violate): void {
  const failed = new Map<string, number[]>();
  for (const { before, item, mac, at, kind, key, request, lockEnd } of locks.writes) {
    const [earlier, later] = [failuresIn(before, mac), failuresIn(item, mac)];
    const name = `${key.pk} ${mac}`;
    const moments = failed.get(name) ?? [];
    failed.set(name, moments);
    if (kind === 'success') {
      if (lockEnd > at + clockError) violate('a success was committed under a lock', request.id);
      const since = moments.filter(moment => moment >= request.sentAt).length;
      if (later.counted > since) violate('a success leaves failures from before it', request.id);
      continue;
    }
    moments.push(at);
    const mayBeginAnew = earlier.last + day <= at + clockError;
    if (later.total !== earlier.total + 1) violate('a failure is not counted as one', request.id);
    if (later.base !== earlier.base && !mayBeginAnew) violate('a failure clears others', request.id);
    const wasOver = earlier.total > 0 && earlier.last + day + clockError < request.sentAt;
    if (wasOver && later.counted !== 1) violate('a failure after a day does not begin anew', request.id);
  }
}
