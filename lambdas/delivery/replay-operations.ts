import * as z from 'zod/mini';
import type { Clock } from '../platform/clock.ts';
import type { MakeId } from '../platform/identifiers.ts';
import { describeError, type Log } from '../platform/telemetry.ts';
import { readJson } from '../webhooks/json-body.ts';
import { Problem, validationFailed, webhookNotFound } from '../webhooks/problem.ts';
import { readBody } from '../webhooks/read-body.ts';
import { answer, type Call, eventIn, noContent, type Operation } from '../webhooks/resource.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import { keysUntil } from './delivery-item.ts';
import { replayRequest } from './history-input.ts';
import { webhookSuspended } from './history-operations.ts';
import type { FindWebhook } from './lookup.ts';
import { isReplayId, type PastReplay, progressAt, type Replay, replayIdOf } from './replay.ts';
import type { RunReplay } from './replay-run.ts';
import type { FoundReplay, ReplayStore } from './replay-store.ts';

/** A new replay is in the hands of whoever began it for this long, in milliseconds; then the sweeper goes on. */
const firstClaim = 20_000;

/** What is due within this many milliseconds leaves at once; the rest is the sweeper's. */
const firstSlice = 5_000;

/** The steps (counting or sending a page) that the request waits for. */
const firstSteps = 20;

/** A replay as responses show it. */
export const replayRecord = z.object({
  id: z.string(),
  estado: z.enum(['em_andamento', 'concluido', 'cancelado']),
  /** Deliveries that it is to send; `null` until they are counted. */
  total: z.nullable(z.int().check(z.nonnegative())),
  enviadas: z.int().check(z.nonnegative()),
});

/** What the operations on replays are made of. */
export interface ReplayOperationDependencies {
  readonly findWebhook: FindWebhook;
  readonly replays: Pick<ReplayStore, 'findLatest' | 'find' | 'start' | 'cancel' | 'forget'>;
  readonly run: RunReplay;
  readonly makeId: MakeId;
  readonly now: Clock;
  readonly log: Log;
}

const toRecord = ({ id, state, total, countedTo, sent }: PastReplay): z.infer<typeof replayRecord> => ({
  id,
  estado: state,
  total: countedTo === null ? total : null,
  enviadas: sent,
});

const inProgress = (): Problem =>
  new Problem(409, 'replay_in_progress', 'A replay of this webhook is under way: wait for its end, or cancel it.');

/** Makes the operations on replays: start, show, cancel. */
export const makeReplayOperations = (dependencies: ReplayOperationDependencies) => {
  const { findWebhook, replays, run, makeId, now, log } = dependencies;

  const webhookOf = async (call: Call): Promise<Webhook> => {
    const webhook = await findWebhook(call.caller.accountId, eventIn(call));
    if (!webhook) throw webhookNotFound();
    return webhook;
  };

  /** Begins what can be begun at once; the sweeper goes on from wherever this ends. */
  const runFirstSlice = async (replay: Replay) => {
    let steps = 0;
    try {
      await run(replay, firstSlice, () => steps++ < firstSteps);
    } catch (error) {
      log.warn('replay.not_begun', { replayId: replay.id, ...describeError(error) });
    }
  };

  const shownAs = (replay: Replay) => toRecord({ ...replay, ...progressAt(replay, now()) });

  /** Replays outlive their webhook, as the history does. */
  const findReplay = async (call: Call): Promise<FoundReplay> => {
    const evento = eventIn(call);
    const { id = '' } = call.path;
    const found = isReplayId(id) ? await replays.find(call.caller.accountId, evento, id) : undefined;
    if (found && !found.replay.isForgotten) return found;
    await webhookOf(call);
    throw new Problem(404, 'replay_not_found', 'There is no such replay of this webhook.');
  };

  /** A replay of a registration that is gone does not hold up the next one's. */
  const isUnderWay = (latest: Replay, { webhookId }: Webhook) =>
    progressAt(latest, now()).state === 'em_andamento' && latest.webhookId === webhookId;

  const start: Operation = async call => {
    const { value, findings } = readBody(replayRequest, readJson(call.request));
    if (value === undefined) throw validationFailed(findings);
    const webhook = await webhookOf(call);
    if (webhook.status === 'suspenso') throw webhookSuspended();
    const { accountId, evento, webhookId } = webhook;
    const latest = await replays.findLatest(accountId, evento);
    if (latest && isUnderWay(latest, webhook)) throw inProgress();

    const moment = now();
    const to = Math.min(value.ate, moment);
    const place = keysUntil(to);
    const replay: Replay = {
      id: replayIdOf(makeId(22)),
      accountId,
      evento,
      webhookId,
      from: value.desde,
      to,
      wanted: value.estado,
      state: 'em_andamento',
      startedAt: moment,
      total: 0,
      countedTo: place,
      sent: 0,
      lastTurnAt: moment,
      sentTo: place,
      paceAt: Math.max(moment, latest?.paceAt ?? moment), // what a cancelled one has sent keeps its turns
      claim: 1,
      lookAt: moment + firstClaim,
    };
    if (!(await replays.start(replay, latest))) throw inProgress();
    await runFirstSlice(replay);
    const begun = await replays.findLatest(accountId, evento);
    const shown = begun?.id === replay.id ? begun : replay;
    return answer(202, shownAs(shown), { location: `/v1/webhooks/${evento}/reenvios/${replay.id}` });
  };

  const show: Operation = async call => {
    const { replay, latest } = await findReplay(call);
    return answer(200, replay.id === latest.id ? shownAs(latest) : toRecord(replay));
  };

  /** Cancels a replay that is under way; has one that ended shown no more. */
  const cancel: Operation = async call => {
    const found = await findReplay(call);
    const { replay, latest } = found;
    if (replay.id === latest.id && (await replays.cancel(latest))) return noContent;
    await replays.forget(found);
    return noContent;
  };

  return { start, show, cancel } satisfies Record<string, Operation>;
};
