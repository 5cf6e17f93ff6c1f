import type * as z from 'zod/mini';
import { parseJsonBody } from '../../api/request-body.ts';
import { type ContextOf, type Handlers, jsonResponse, noContent, type RequestContext } from '../../api/route.ts';
import { requireValid } from '../../api/validation.ts';
import type { HttpResponse } from '../../platform/http.ts';
import type { OperationId } from '../../platform/route-table.ts';
import { fillIn } from '../../platform/text-template.ts';
import type { Pause } from '../../platform/timer.ts';
import { requireEventName } from '../../webhooks/event-in-path.ts';
import { makeRetryChange } from '../../webhooks/retry-change.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import { type Replay, replayIdForm } from '../replay/replay.ts';
import type { StartReplay } from '../replay/replay-start.ts';
import type { ReplayStore } from '../replay/replay-store.ts';
import { wireReplayStates } from '../representation.ts';
import type { FindWebhook } from '../store/find-webhook.ts';
import { replayRequest } from './input.ts';
import type { replayRecord } from './responses.ts';
import { deliveryRoutes } from './routes.ts';

export function makeReplayHandlers(dependencies: {
  readonly findWebhook: FindWebhook;
  readonly replays: Pick<ReplayStore, 'find' | 'end' | 'delete'>;
  readonly startReplay: StartReplay;
  readonly pause: Pause;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
}): Pick<Handlers<typeof deliveryRoutes>, 'startReplay' | 'getReplay' | 'cancelReplay'> {
  const { findWebhook, replays } = dependencies;
  const retryChange = makeRetryChange(dependencies);

  return { startReplay, getReplay, cancelReplay };

  async function startReplay(context: Context<'startReplay'>): Promise<HttpResponse> {
    const { request, makeProblem } = context;
    const body = parseJsonBody(request, makeProblem);
    const { desde: from, ate: to, estado: sourceState } = requireValid(replayRequest, body, makeProblem);
    const webhook = await requireWebhook(context);
    if (webhook.status === 'suspended') throw makeProblem('webhook_suspended');
    const start = () => dependencies.startReplay(webhook, { from, to, sourceState });
    const { outcome, replay } = await retryChange(makeProblem, start);
    // `Location` helps a client that did not receive the response to its first request.
    if (outcome === 'running') throw makeProblem('replay_in_progress', { headers: locationOf(replay) });
    return jsonResponse<typeof replayRecord>(202, toReplayRecord(replay), locationOf(replay));
  }

  async function getReplay(context: Context<'getReplay'>): Promise<HttpResponse> {
    return jsonResponse<typeof replayRecord>(200, toReplayRecord(await findReplay(context)));
  }

  /** Cancels a running replay, or deletes one that has ended. */
  async function cancelReplay(context: Context<'cancelReplay'>): Promise<HttpResponse> {
    const replay = await findReplay(context);
    if (replay.state === 'running') await replays.end(replay, 'cancelled');
    else await replays.delete(replay);
    return noContent;
  }

  /** Finds the replay in the path, even if its webhook was deleted. */
  async function findReplay(context: RequestContext<'webhook_not_found' | 'replay_not_found'>): Promise<Replay> {
    const eventName = requireEventName(context);
    const { id = '' } = context.path;
    const replay = replayIdForm.test(id) ? await replays.find(context.caller.accountId, eventName, id) : undefined;
    if (replay) return replay;
    await requireWebhook(context);
    throw context.makeProblem('replay_not_found');
  }

  async function requireWebhook(context: RequestContext<'webhook_not_found'>): Promise<Webhook> {
    const eventName = requireEventName(context);
    const { accountId } = context.caller;
    const webhook = await findWebhook(accountId, eventName);
    if (!webhook) throw context.makeProblem('webhook_not_found');
    return webhook;
  }
}

type Context<Id extends OperationId<typeof deliveryRoutes>> = ContextOf<typeof deliveryRoutes, Id>;

function locationOf({ eventName, id }: Replay): Record<string, string> {
  return { location: fillIn(deliveryRoutes.Replay.path, { evento: eventName, id }) };
}

function toReplayRecord({ id, state, sent }: Replay): z.infer<typeof replayRecord> {
  return { id, estado: wireReplayStates[state], enviadas: sent };
}
