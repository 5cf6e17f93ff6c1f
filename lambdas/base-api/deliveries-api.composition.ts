import type * as z from 'zod/mini';
import { resourcesOf } from '../api/route.ts';
import { makeDeliveryHandlers } from '../delivery/api/deliveries.ts';
import { deliveryApiProblems } from '../delivery/api/problems.ts';
import { makeReplayHandlers } from '../delivery/api/replays.ts';
import { makeRequestLimits } from '../delivery/api/request-limits.ts';
import { makeResend } from '../delivery/api/resend.ts';
import { deliveryRoutes } from '../delivery/api/routes.ts';
import { makeSendTest } from '../delivery/api/test-event.ts';
import type { deliveriesApiEnvironment } from '../delivery/environment.ts';
import { makeReadWithoutWebhook } from '../delivery/intake/without-webhook.ts';
import { makeAttemptQueue } from '../delivery/queues.ts';
import { makeRunReplay, replayPage } from '../delivery/replay/replay-runner.ts';
import { makeStartReplay } from '../delivery/replay/replay-start.ts';
import { makeReplayStore } from '../delivery/replay/replay-store.ts';
import { makeReadHistory } from '../delivery/store/delivery-history.ts';
import { makeDeliveryStore } from '../delivery/store/delivery-store.ts';
import { makeFindDeliveryWithWebhook, makeFindWebhook } from '../delivery/store/find-webhook.ts';
import { makeReadAnswers } from '../delivery/store/read-answers.ts';
import type { MeasuringTelemetry } from '../delivery/telemetry.ts';
import { makeRandomIds } from '../platform/identifiers.ts';
import { makeKeyring } from '../platform/keyring.ts';
import type { Outside } from '../platform/outside.ts';
import { makeWebhookNotFound } from '../webhooks/webhook-not-found.ts';
import { makeWebhookStore } from '../webhooks/webhook-store.ts';
import { makeBaseApi } from './base-api.ts';

/** Composes the function of the delivery history of webhooks, with resends, replays and tests. */
export function composeDeliveriesApi(
  environment: z.infer<typeof deliveriesApiEnvironment>,
  { dynamo, sqs, time, random }: Pick<Outside, 'dynamo' | 'sqs' | 'time' | 'random'>,
  telemetry: MeasuringTelemetry,
) {
  const table = environment.DELIVERIES_TABLE;
  const stored = { ...time, dynamo, table, historyDays: environment.HISTORY_DAYS };
  const store = makeDeliveryStore(stored);
  const replays = makeReplayStore(stored);
  const retryQueue = makeAttemptQueue({ ...time, sqs, queueUrl: environment.RETRY_QUEUE_URL });
  const findWebhook = makeFindWebhook(dynamo, environment.WEBHOOKS_TABLE);
  const readHistory = makeReadHistory({ dynamo, table, store });
  const webhookNotFound = makeWebhookNotFound(makeReadWithoutWebhook(stored));
  const makeId = makeRandomIds(random);
  const shared = { ...telemetry, ...time, store, retryQueue, findWebhook, webhookNotFound, makeId };
  const limits = makeRequestLimits({
    ...stored,
    testLimit: environment.TEST_LIMIT,
    resendLimit: environment.RESEND_LIMIT,
  });
  const run = makeRunReplay({ ...shared, replays, readHistory, page: replayPage });

  return makeBaseApi({
    ...time,
    environment,
    dynamo,
    keyring: makeKeyring({ ...time, dynamo, table: environment.KEYRING_TABLE }),
    log: telemetry.log,
    resources: resourcesOf(deliveryRoutes, deliveryApiProblems, {
      sendTest: makeSendTest({
        ...shared,
        webhooks: makeWebhookStore({ dynamo, table: environment.WEBHOOKS_TABLE }),
        limits,
        demandsUrl: environment.DEMANDS_URL,
      }),
      ...makeDeliveryHandlers({
        ...shared,
        findDeliveryWithWebhook: makeFindDeliveryWithWebhook(store, environment.WEBHOOKS_TABLE),
        readAnswers: makeReadAnswers(stored),
        readHistory,
        limits,
        resend: makeResend(shared),
      }),
      ...makeReplayHandlers({ ...shared, replays, startReplay: makeStartReplay({ ...shared, replays, run }) }),
    }),
  });
}
