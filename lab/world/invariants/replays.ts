import { wireReplayStates } from '../../../lambdas/delivery/representation.ts';
import type { World } from '../make-world.ts';
import type { Answered } from '../requests.ts';
import { second } from '../times.ts';
import type { Evidence } from './evidence.ts';
import { isFor, maySend, type ReplayRun } from './replay-runs.ts';
import type { Judgement, Violate } from './violation.ts';

/**
 * Checks replays. Each replay must end, and a completed replay must have resent every selected delivery exactly once. The
 * maximum rate is 20 a second. `attempts.ts` checks that only replays and integrators resend deliveries.
 */
export function judgeReplays({ answered, faultClass }: World, evidence: () => Evidence, violate: Violate): Judgement {
  return { judgeEnd };

  function judgeEnd(): void {
    const { replays, restarts } = evidence();
    for (const { method, path, status, answer } of answered()) {
      const isStart = method === 'POST' && status === 202 && path.endsWith('/reenvios');
      if (isStart && !replays.has(String(answer.id))) violate(`replay ${answer.id} was accepted but not stored`);
    }
    for (const run of replays.values()) {
      const sent = restarts.filter(({ before, at }) => maySend(run, before, at));
      judgeRun(run);
      judgeSent(run, sent);
      for (const one of answered()) if (one.answer.id === run.id) judgeShown(run, sent, one);
    }
  }

  function judgeRun(run: ReplayRun): void {
    const { id, last, startedAt, endedAt } = run;
    if (last.state === 'running') violate(`replay ${id} never ends`);
    if (last.state !== 'completed') return;
    for (const [deliveryId, changes] of evidence().deliveries) {
      const before = changes.findLast(({ at }) => at < startedAt)?.delivery;
      const isUntouched = !changes.some(({ at }) => at >= startedAt && at <= endedAt);
      if (before && isUntouched && isFor(run, before)) violate(`replay ${id} skipped it`, deliveryId);
    }
  }

  function judgeSent({ id }: ReplayRun, sent: readonly Restart[]): void {
    const own = sent.filter(({ isResent }) => !isResent);
    const ids = own.map(({ after }) => after.id);
    for (const twice of ids.filter((one, at) => ids.indexOf(one) !== at))
      violate(`resent twice by replay ${id}`, twice);
    const dueAt = own.map(({ after }) => after.wait?.nextAttemptAt ?? 0).toSorted((one, other) => one - other);
    if (dueAt.some((at, index) => at - (dueAt[index - maxAtOnce] ?? Number.NEGATIVE_INFINITY) < interval))
      violate(`replay ${id} sends more than ${maxAtOnce} deliveries within ${interval} ms`);
  }

  /** Checks a response with a replay. The count must not exceed the resent deliveries, and the state must be final after the end. */
  function judgeShown(
    { id, last, endedAt }: ReplayRun,
    sent: readonly Restart[],
    { sentAt, answeredAt, answer: { estado, enviadas } }: Answered,
  ): void {
    const soFar = sent.filter(({ at }) => at <= answeredAt);
    const isOver = sentAt >= endedAt;
    const isWhole = isOver && faultClass === 'calm' && last.state === 'completed';
    const minSent = isWhole ? soFar.filter(({ isResent }) => !isResent).length : 0;
    if (Number(enviadas) > soFar.length || Number(enviadas) < minSent)
      violate(`replay ${id} reports ${enviadas} resent deliveries, but it resent ${soFar.length}`);
    const state = wireReplayStates[last.state === 'completed' ? 'completed' : 'cancelled'];
    if (isOver && estado !== state) violate(`replay ${id} reports the state ${estado} instead of ${state}`);
  }
}

type Restart = Evidence['restarts'][number];

/** The maximum number of processes that run a replay at the same time. Each process resends ten deliveries a second. */
const maxAtOnce = 2;
const interval = second / 10;
