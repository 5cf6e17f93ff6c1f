import type * as z from 'zod/mini';
import type { Problem } from '../../api/problem.ts';
import { parseJsonBody } from '../../api/request-body.ts';
import { type Handlers, jsonResponse, noContent, type RequestContext } from '../../api/route.ts';
import { requireValid } from '../../api/validation.ts';
import type { Clock } from '../../platform/clock.ts';
import type { HttpResponse } from '../../platform/http.ts';
import { fillIn } from '../../platform/text-template.ts';
import { requireEventName, webhookProblem } from '../../webhooks/problems.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import type { WebhookNotFound } from '../../webhooks/webhook-not-found.ts';
import { isReplayId, type PastReplay, progressAt, type Replay } from '../replay/replay.ts';
import type { StartReplay } from '../replay/replay-start.ts';
import type { FoundReplay, ReplayStore } from '../replay/replay-store.ts';
import { wireReplayStates } from '../representation.ts';
import type { FindWebhook } from '../store/find-webhook.ts';
import type { replayRecord } from './answers.ts';
import { replayRequest } from './input.ts';
import { deliveryProblem } from './problems.ts';
import { deliveryRoutes } from './routes.ts';

/** Makes the functions of a webhook's replays. */
export function makeReplayHandlers(dependencies: {
  readonly findWebhook: FindWebhook;
  readonly webhookNotFound: WebhookNotFound;
  readonly replays: Pick<ReplayStore, 'findLatest' | 'find' | 'cancel' | 'hide'>;
  readonly startReplay: StartReplay;
  readonly now: Clock;
}): Pick<Handlers<typeof deliveryRoutes>, 'startReplay' | 'getReplay' | 'cancelReplay'> {
  const { findWebhook, webhookNotFound, replays, now } = dependencies;

  return { startReplay, getReplay, cancelReplay };

  async function startReplay(context: RequestContext): Promise<HttpResponse> {
    const { desde: from, ate: to, estado: wanted } = requireValid(replayRequest, parseJsonBody(context.request));
    const webhook = await requireWebhook(context);
    if (webhook.status === 'suspended') throw webhookProblem('webhook_suspended');
    const replay = await dependencies.startReplay(webhook, { from, to, wanted });
    if (!replay) throw await inProgress(webhook);
    return jsonResponse<typeof replayRecord>(202, toCurrentRecord(replay), locationOf(replay));
  }

  /** Names the replay that is under way: a client that lost the answer to its start finds it there. */
  async function inProgress({ accountId, eventName }: Webhook): Promise<Problem> {
    const latest = await replays.findLatest(accountId, eventName);
    return deliveryProblem('replay_in_progress', { headers: latest && locationOf(latest) });
  }

  async function getReplay(context: RequestContext): Promise<HttpResponse> {
    const { replay, latest } = await findReplay(context);
    const record = replay.id === latest.id ? toCurrentRecord(latest) : toReplayRecord(replay);
    return jsonResponse<typeof replayRecord>(200, record);
  }

  /** Cancels a running replay; removes one that has ended from view. */
  async function cancelReplay(context: RequestContext): Promise<HttpResponse> {
    const found = await findReplay(context);
    const { replay, latest } = found;
    if (replay.id === latest.id && (await replays.cancel(latest))) return noContent;
    await replays.hide(found);
    return noContent;
  }

  /** Replays outlive their webhook, as the history does. */
  async function findReplay(context: RequestContext): Promise<FoundReplay> {
    const eventName = requireEventName(context);
    const { id = '' } = context.path;
    const found = isReplayId(id) ? await replays.find(context.caller.accountId, eventName, id) : undefined;
    if (found && !found.replay.isHidden) return found;
    await requireWebhook(context);
    throw deliveryProblem('replay_not_found');
  }

  async function requireWebhook(context: RequestContext): Promise<Webhook> {
    const eventName = requireEventName(context);
    const { accountId } = context.caller;
    const webhook = await findWebhook(accountId, eventName);
    if (!webhook) throw await webhookNotFound(accountId, eventName);
    return webhook;
  }

  function toCurrentRecord(replay: Replay): z.infer<typeof replayRecord> {
    return toReplayRecord({ ...replay, ...progressAt(replay, now()) });
  }
}

function locationOf({ eventName, id }: Replay): Record<string, string> {
  return { location: fillIn(deliveryRoutes.Replay.path, { evento: eventName, id }) };
}

function toReplayRecord({ id, state, total, countCursor, sent }: PastReplay): z.infer<typeof replayRecord> {
  return {
    id,
    estado: wireReplayStates[state],
    total: countCursor === null ? total : null,
    enviadas: sent,
  };
}
