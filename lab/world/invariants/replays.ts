import { wireReplayStates } from '../../../lambdas/delivery/representation.ts';
import type { World } from '../make-world.ts';
import type { CompletedRequest } from '../requests.ts';
import { second } from '../times.ts';
import type { Evidence } from './evidence.ts';
import { mayHaveResent, type ReplayRun, selectsDelivery } from './replay-runs.ts';
import type { Check, Violate } from './violation.ts';

/**
 * Checks replays. Each replay must end, and a completed replay must have resent every selected delivery exactly once. The
 * maximum rate is 20 deliveries a second. `attempts.ts` checks that only replays and integrators resend deliveries.
 */
export function checkReplays({ completed, faultClass }: World, evidence: () => Evidence, violate: Violate): Check {
  return { checkAtEnd };

  function checkAtEnd(): void {
    const { replays, restarts } = evidence();
    for (const { method, path, status, response } of completed()) {
      const isStart = method === 'POST' && status === 202 && path.endsWith('/reenvios');
      if (isStart && !replays.has(String(response.id))) violate(`replay ${response.id} was accepted but not stored`);
    }
    for (const run of replays.values()) {
      const sent = restarts.filter(({ before, at }) => mayHaveResent(run, before, at));
      checkRun(run);
      checkResends(run, sent);
      for (const one of completed()) if (one.response.id === run.id) checkResponse(run, sent, one);
    }
  }

  function checkRun(run: ReplayRun): void {
    const { id, last, startedAt, endedAt } = run;
    if (last.state === 'running') violate(`replay ${id} never ends`);
    if (last.state !== 'completed') return;
    for (const [deliveryId, changes] of evidence().deliveries) {
      const before = changes.findLast(({ at }) => at < startedAt)?.delivery;
      const isUnchanged = !changes.some(({ at }) => at >= startedAt && at <= endedAt);
      if (before && isUnchanged && selectsDelivery(run, before)) violate(`replay ${id} skipped a delivery`, deliveryId);
    }
  }

  function checkResends({ id }: ReplayRun, sent: readonly Restart[]): void {
    const own = sent.filter(({ isResent }) => !isResent);
    const ids = own.map(({ after }) => after.id);
    for (const duplicateId of ids.filter((one, at) => ids.indexOf(one) !== at))
      violate(`resent twice by replay ${id}`, duplicateId);
    const dueAt = own.map(({ after }) => after.wait?.nextAttemptAt ?? 0).toSorted((one, other) => one - other);
    if (dueAt.some((at, index) => at - (dueAt[index - maxProcesses] ?? Number.NEGATIVE_INFINITY) < interval))
      violate(`replay ${id} sends more than ${maxProcesses} deliveries within ${interval} ms`);
  }

  /** Checks a returned replay. Its count must not exceed the resent deliveries, and its state must be final after the end. */
  function checkResponse(
    { id, last, endedAt: replayEndedAt }: ReplayRun,
    sent: readonly Restart[],
    { sentAt, endedAt, response: { estado, enviadas } }: CompletedRequest,
  ): void {
    const resentSoFar = sent.filter(({ at }) => at <= endedAt);
    const isOver = sentAt >= replayEndedAt;
    const isExact = isOver && faultClass === 'none' && last.state === 'completed';
    const minSent = isExact ? resentSoFar.filter(({ isResent }) => !isResent).length : 0;
    if (Number(enviadas) > resentSoFar.length || Number(enviadas) < minSent)
      violate(`replay ${id} reports ${enviadas} resent deliveries, but it resent ${resentSoFar.length}`);
    const state = wireReplayStates[last.state === 'completed' ? 'completed' : 'cancelled'];
    if (isOver && estado !== state) violate(`replay ${id} reports the state ${estado} instead of ${state}`);
  }
}

type Restart = Evidence['restarts'][number];

/** The maximum number of processes that run a replay at the same time. Each process resends ten deliveries a second. */
const maxProcesses = 2;
const interval = second / 10;
