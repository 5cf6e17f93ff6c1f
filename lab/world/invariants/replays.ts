import { type Delivery, isTest } from '../../../lambdas/delivery/delivery.ts';
import { replaySlotInterval } from '../../../lambdas/delivery/limits.ts';
import { replaysPrefix } from '../../../lambdas/delivery/replay/replay-store.ts';
import { wireReplayStates } from '../../../lambdas/delivery/representation.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { World } from '../make-world.ts';
import type { Answered } from '../requests.ts';
import { minute, second } from '../times.ts';
import type { Evidence } from './evidence.ts';
import { shortestGap } from './slots.ts';
import type { Judgement, Violate } from './violation.ts';

/** Judges replays: each ends, sends what it was asked to send and nothing else, counts that right, and stops where it is cancelled. */
export function judgeReplays({ watched, answered }: World, evidence: () => Evidence, violate: Violate): Judgement {
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
      const { id, replayId = '', accountId, wait } = sent.after;
      const replay = replays.get(replayId);
      sentBy.set(replayId, [...(sentBy.get(replayId) ?? []), sent]);
      if (!replay || !isWanted(replay, sent.before)) violate('sent by a replay that is not for it', id);
      slots.set(accountId, [...(slots.get(accountId) ?? []), wait?.nextAttemptAt ?? 0]);
    }
    for (const [account, taken] of slots) {
      const gap = shortestGap(taken);
      if (gap < replaySlotInterval) violate(`two slots of replays of ${account} are ${gap} ms apart`);
    }
    for (const [id, replay] of replays) judgeReplay(id, replay, sentBy.get(id) ?? []);
    for (const { method, path, status, answer, sentAt } of answered()) {
      const replay = replays.get(String(answer.id));
      if (method === 'GET' && status === 200 && path.includes('/reenvios/') && replay)
        judgeShown(replay, answer, sentAt);
    }
  }

  /** Judges what a request was told of a replay that had ended: its last state, and how many it sent. */
  function judgeShown({ last, endedAt }: Replay, { id, estado, enviadas }: Answered['answer'], at: number): void {
    if (at < endedAt + longestSlots) return;
    const state = wireReplayStates[last.state === 'completed' ? 'completed' : 'cancelled'];
    if (estado !== state) violate(`replay ${id} is shown as ${estado}, and it is ${state}`);
    if (last.state === 'completed' && enviadas !== last.sent)
      violate(`replay ${id} is shown with ${enviadas} sent, and it says ${last.sent}`);
  }

  function judgeReplay(id: string, { first, last, beganAt, endedAt }: Replay, sent: readonly Sent[]): void {
    if (last.state === 'running') violate(`replay ${id} never ends`);
    const late = sent.filter(({ at }) => at > endedAt + longestWrite);
    if (late.length > 0) violate(`replay ${id} sends ${late.length} when it is over`);
    if (last.state !== 'completed') return;
    // A resend removes `replayId` from a delivery. A process that claims the replay later does not count that delivery as sent.
    const left = sent.filter(({ at, after }) => hasLeft(after.id, id, at, endedAt)).length;
    if (Number(last.sent) > sent.length || Number(last.sent) < sent.length - left)
      violate(`replay ${id} says it sent ${last.sent}, and it sent ${sent.length}`);
    if (Number(last.total) < sent.length) violate(`replay ${id} counted ${last.total}, and it sent ${sent.length}`);
    const sentIds = new Set(sent.map(({ after }) => after.id));
    for (const [deliveryId, changes] of evidence().deliveries) {
      const before = changes.findLast(({ at }) => at < beganAt - indexLag);
      const isUntouched = !changes.some(({ at }) => at >= beganAt - indexLag && at <= endedAt);
      if (!before?.delivery || !isUntouched || sentIds.has(deliveryId)) continue;
      if (isWanted({ first }, before.delivery)) violate(`replay ${id} left it out`, deliveryId);
    }
  }

  function hasLeft(deliveryId: string, replayId: string, from: number, to: number): boolean {
    const changes = evidence().deliveries.get(deliveryId) ?? [];
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
        return isSent && before && !isOutcome ? [{ at, before, after }] : [];
      }),
    );
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
