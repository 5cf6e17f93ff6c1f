import { type Delivery, isTest } from '../../../lambdas/delivery/delivery.ts';
import { replaySlotInterval } from '../../../lambdas/delivery/limits.ts';
import { replaysPrefix } from '../../../lambdas/delivery/replay/replay-store.ts';
import { wireReplayStates } from '../../../lambdas/delivery/representation.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { World } from '../make-world.ts';
import type { Reading } from '../receivers.ts';
import type { Answered } from '../requests.ts';
import { clockError, minute, second } from '../times.ts';
import type { DeliveryChange, Evidence } from './evidence.ts';
import type { Judgement, Violate } from './violation.ts';

/**
 * Judges replays: each ends, sends what it was asked to send and nothing else, and counts that right. One that is cancelled has sent what
 * had entered the queue by then, as it was delayed when the replay began it, and withdraws the rest.
 */
export function judgeReplays(
  { watched, answered, receivers, faultClass }: World,
  evidence: () => Evidence,
  violate: Violate,
): Judgement {
  return { judgeEnd };

  function judgeEnd(): void {
    const replays = readReplays();
    for (const { method, path, status, answer } of answered()) {
      const isStart = method === 'POST' && status === 202 && path.endsWith('/reenvios');
      if (isStart && !replays.has(String(answer.id))) violate(`replay ${answer.id} was accepted, and not stored`);
    }
    const sentBy = new Map<string, Sent[]>();
    const slots = new Map<string, number[]>();
    for (const sent of readSent()) {
      const { id, replayId = '', accountId } = sent.after;
      const replay = replays.get(replayId);
      sentBy.set(replayId, [...(sentBy.get(replayId) ?? []), sent]);
      if (!replay || !isWanted(replay, sent.before)) violate('sent by a replay that is not for it', id);
      else judgeWithdrawal(replay, sent);
      slots.set(accountId, [...(slots.get(accountId) ?? []), sent.slot]);
    }
    for (const [account, taken] of slots) {
      const gap = shortestGap(taken);
      if (gap < replaySlotInterval) violate(`two slots of replays of ${account} are ${gap} ms apart`);
    }
    for (const [id, replay] of replays) judgeReplay(id, replay, sentBy.get(id) ?? []);
    for (const one of answered()) {
      const id = String(one.answer.id);
      const replay = replays.get(id);
      if (replay) judgeShown(replay, sentBy.get(id) ?? [], one);
    }
  }

  /** Judges that a cancelled replay sends what had entered the queue, and nothing else. A resend may attempt the rest, or take it out. */
  function judgeWithdrawal({ last, endedAt }: Replay, { before, after, slot, withdrawn }: Sent): void {
    const { id, replayId, attempt } = after;
    const isLeft = last.state === 'cancelled' && slot > Number(last.endedAt);
    const isAsBefore = withdrawn?.state === before.state && withdrawn.attempt === attempt;
    if (withdrawn && !(isLeft && isAsBefore)) violate('withdrawn, though its replay had sent it', id);
    const isOfReplay = ({ at, head }: Reading) =>
      at > endedAt + clockError && head?.replayId === replayId && head?.attempt === attempt;
    if (isLeft && receivers.postsOf(id).some(({ read }) => read && isOfReplay(read)))
      violate('POSTed by a replay that was cancelled', id);
  }

  /** Judges what a request was told of a replay: how many entered the queue by then, and its last state once it had ended. */
  function judgeShown(
    { last, endedAt }: Replay,
    sent: readonly Sent[],
    { sentAt, answeredAt, answer }: Answered,
  ): void {
    const { id, estado, enviadas } = answer;
    const isOver = sentAt >= endedAt + longestSlots;
    const isCancelled = last.endedAt !== undefined && estado === wireReplayStates.cancelled;
    const until = isCancelled ? Number(last.endedAt) : answeredAt + clockError;
    const slots = sent.map(({ slot }) => slot);
    const entered = slots.filter(slot => slot <= until).length;
    // A resend takes a delivery out of its replay. Its slot stays empty, and a process that claims the replay later does not count it.
    const empty = Math.max(0, (Math.max(...slots) - Math.min(...slots)) / replaySlotInterval + 1 - slots.length);
    const uncounted = isCancelled ? empty : sent.filter(one => hasLeft(one, endedAt)).length;
    const isWhole = isCancelled ? faultClass === 'calm' : isOver && last.state === 'completed';
    if (Number(enviadas) > entered || (isWhole && Number(enviadas) < entered - uncounted))
      violate(`replay ${id} is shown with ${enviadas} sent, and ${entered} entered the queue`);
    const state = wireReplayStates[last.state === 'completed' ? 'completed' : 'cancelled'];
    if (isOver && estado !== state) violate(`replay ${id} is shown as ${estado}, and it is ${state}`);
  }

  function judgeReplay(id: string, { first, last, beganAt, endedAt }: Replay, sent: readonly Sent[]): void {
    if (last.state === 'running') violate(`replay ${id} never ends`);
    const late = sent.filter(({ at }) => at > endedAt + longestWrite);
    if (late.length > 0) violate(`replay ${id} sends ${late.length} when it is over`);
    if (last.state !== 'completed') return;
    if (Number(last.total) < sent.length) violate(`replay ${id} counted ${last.total}, and it sent ${sent.length}`);
    const sentIds = new Set(sent.map(({ after }) => after.id));
    for (const [deliveryId, changes] of evidence().deliveries) {
      const before = changes.findLast(({ at }) => at < beganAt - indexLag);
      const isUntouched = !changes.some(({ at }) => at >= beganAt - indexLag && at <= endedAt);
      if (!before?.delivery || !isUntouched || sentIds.has(deliveryId)) continue;
      if (isWanted({ first }, before.delivery)) violate(`replay ${id} left it out`, deliveryId);
    }
  }

  function hasLeft({ at: from, after: { id, replayId } }: Sent, to: number): boolean {
    const changes = evidence().deliveries.get(id) ?? [];
    return changes.some(({ at, delivery }) => at > from && at < to && delivery?.replayId !== replayId);
  }

  /** Returns what became of each replay: all of a webhook stand in one item, one after the other. */
  function readReplays(): ReadonlyMap<string, Replay> {
    const replays = new Map<string, Replay>();
    for (const [key, changes] of watched.changesOf('Deliveries')) {
      if (!key.startsWith(`${replaysPrefix}#`) || !key.endsWith(' head')) continue;
      let running: string | undefined;
      for (const { at, item } of changes) {
        const id = item && String(item.replayId);
        const before = running === undefined ? undefined : replays.get(running);
        // What replaces one that runs, or deletes it, ends it.
        if (running !== undefined && before && running !== id && before.last.state === 'running') {
          replays.set(running, { ...before, last: { ...before.last, state: 'cancelled' }, endedAt: at });
        }
        running = id;
        if (!item || id === undefined) continue;
        const known = replays.get(id);
        const endedAt = known && known.last.state !== 'running' && item.state === known.last.state ? known.endedAt : at;
        replays.set(id, { first: known?.first ?? item, last: item, beganAt: known?.beganAt ?? at, endedAt });
      }
    }
    return replays;
  }

  function readSent(): readonly Sent[] {
    return [...evidence().deliveries.values()].flatMap(changes =>
      changes.flatMap(({ at, delivery: after }, index) => {
        const before = changes[index - 1]?.delivery;
        const isSent = after?.replayId !== undefined && after.replayId !== before?.replayId;
        // An outcome puts the id back that a resend took away during the attempt.
        const isOutcome = after && before && after.attempt > before.attempt;
        if (!isSent || !before || isOutcome) return [];
        const withdrawn = withdrawnOf(changes.slice(index), after.replayId);
        return [{ at, before, after, slot: after.wait?.nextAttemptAt ?? 0, withdrawn }];
      }),
    );
  }

  /** Returns a delivery as it ended without an attempt, where neither a suspension nor another registration is the reason. */
  function withdrawnOf(changes: readonly DeliveryChange[], replayId: string): Delivery | undefined {
    const end = changes.findIndex(({ delivery }) => delivery?.state !== 'pending');
    const [{ at, delivery } = { at: 0 }, before] = [changes[end], changes[end - 1]];
    if (delivery?.replayId !== replayId || delivery.attempt !== before?.delivery?.attempt) return undefined;
    const isSuspended = evidence()
      .webhooksBefore(delivery, at)
      .some(webhook => webhook?.status === 'suspended');
    return delivery.state === 'cancelled' || isSuspended ? undefined : delivery;
  }
}

interface Replay {
  /** As it began, and as it was last. */
  readonly first: Item;
  readonly last: Item;
  readonly beganAt: number;
  readonly endedAt: number;
}

/** A delivery that a replay began anew. */
interface Sent {
  readonly at: number;
  readonly before: Delivery;
  readonly after: Delivery;
  /** The moment until which its message is delayed. */
  readonly slot: number;
  /** As it was withdrawn, where it was. */
  readonly withdrawn: Delivery | undefined;
}

/** The longest time between the end of a replay and a write that began before it. */
const longestWrite = 8 * second;

const indexLag = second;

/** By then a replay that has sent all has none left that waits for its slot. */
const longestSlots = minute;

/** Returns whether a replay is for a delivery as it was then. */
function isWanted({ first }: Pick<Replay, 'first'>, delivery: Delivery): boolean {
  const { accountId, webhookId, wanted, from, to, startedAt } = first;
  const isOwn = delivery.accountId === accountId && delivery.webhookId === webhookId && !isTest(delivery);
  const isInRange = delivery.createdAt >= Number(from) && delivery.createdAt < Number(to);
  return isOwn && isInRange && delivery.state === wanted && Number(delivery.settledAt) < Number(startedAt);
}

/** Returns the milliseconds between the two moments that are closest to each other. */
function shortestGap(moments: readonly number[]): number {
  const sorted = moments.toSorted((one, other) => one - other);
  return Math.min(...sorted.slice(1).map((moment, index) => moment - (sorted[index] ?? 0)));
}
