import * as z from 'zod/mini';
import { Problem, validationFailed } from '../../api/problem.ts';
import { parseJsonBody } from '../../api/request-body.ts';
import { jsonResponse, noContent, type RequestContext, type RouteHandler } from '../../api/route.ts';
import { validate } from '../../api/validation.ts';
import type { Clock } from '../../platform/clock.ts';
import { requireEventName, webhookNotFound } from '../../webhooks/problems.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import type { FindWebhook } from '../lookup.ts';
import { isReplayId, type PastReplay, progressAt, type Replay } from '../replay/replay.ts';
import type { StartReplay } from '../replay/replay-start.ts';
import type { FoundReplay, ReplayStore } from '../replay/replay-store.ts';
import { wireReplayStates } from '../representation.ts';
import { webhookSuspended } from './deliveries.ts';
import { replayRequest } from './input.ts';

/** A replay as responses show it. */
export const replayRecord = z.object({
  id: z.string(),
  estado: z.enum(Object.values(wireReplayStates)),
  /** Deliveries that it is to send; `null` until they are counted. */
  total: z.nullable(z.int().check(z.nonnegative())),
  enviadas: z.int().check(z.nonnegative()),
});

/** What the operations on replays are made of. */
export interface ReplayOperationDependencies {
  readonly findWebhook: FindWebhook;
  readonly replays: Pick<ReplayStore, 'find' | 'cancel' | 'forget'>;
  readonly startReplay: StartReplay;
  readonly now: Clock;
}

/** Makes the operations on replays: start, show, cancel. */
export function makeReplayOperations(dependencies: ReplayOperationDependencies) {
  const { findWebhook, replays, startReplay, now } = dependencies;

  const webhookOf = async (context: RequestContext): Promise<Webhook> => {
    const webhook = await findWebhook(context.caller.accountId, requireEventName(context));
    if (!webhook) throw webhookNotFound();
    return webhook;
  };

  const shownAs = (replay: Replay) => toRecord({ ...replay, ...progressAt(replay, now()) });

  /** Replays outlive their webhook, as the history does. */
  const findReplay = async (context: RequestContext): Promise<FoundReplay> => {
    const eventName = requireEventName(context);
    const { id = '' } = context.path;
    const found = isReplayId(id) ? await replays.find(context.caller.accountId, eventName, id) : undefined;
    if (found && !found.replay.isForgotten) return found;
    await webhookOf(context);
    throw new Problem(404, 'replay_not_found', 'There is no such replay of this webhook.');
  };

  const start: RouteHandler = async context => {
    const { value, findings } = validate(replayRequest, parseJsonBody(context.request));
    if (value === undefined) throw validationFailed(findings);
    const webhook = await webhookOf(context);
    if (webhook.status === 'suspended') throw webhookSuspended();
    const { desde: from, ate: to, estado: wanted } = value;
    const replay = await startReplay(webhook, { from, to, wanted });
    if (!replay) throw inProgress();
    return jsonResponse(202, shownAs(replay), { location: `/v1/webhooks/${webhook.eventName}/reenvios/${replay.id}` });
  };

  const show: RouteHandler = async context => {
    const { replay, latest } = await findReplay(context);
    return jsonResponse(200, replay.id === latest.id ? shownAs(latest) : toRecord(replay));
  };

  /** Cancels a replay that is under way; has one that ended shown no more. */
  const cancel: RouteHandler = async context => {
    const found = await findReplay(context);
    const { replay, latest } = found;
    if (replay.id === latest.id && (await replays.cancel(latest))) return noContent;
    await replays.forget(found);
    return noContent;
  };

  return { start, show, cancel } satisfies Record<string, RouteHandler>;
}

function toRecord({ id, state, total, countedTo, sent }: PastReplay): z.infer<typeof replayRecord> {
  return {
    id,
    estado: wireReplayStates[state],
    total: countedTo === null ? total : null,
    enviadas: sent,
  };
}

function inProgress(): Problem {
  return new Problem(
    409,
    'replay_in_progress',
    'A replay of this webhook is under way: wait for its end, or cancel it.',
  );
}
