import { resourcesOf } from '../api/route.ts';
import { makeApi } from '../api/router.ts';
import { makeDeliveryHandlers } from '../delivery/api/deliveries.ts';
import { makeReplayHandlers } from '../delivery/api/replays.ts';
import { makeRequestLimits, requestLimits } from '../delivery/api/request-limits.ts';
import { makeResend } from '../delivery/api/resend.ts';
import { deliveryProblems, deliveryRoutes } from '../delivery/api/routes.ts';
import { makeSendTest } from '../delivery/api/test-event.ts';
import type { deliveriesApiEnvironment } from '../delivery/environment.ts';
import { makeAttemptQueue } from '../delivery/queues.ts';
import { makeRunReplay } from '../delivery/replay/replay-runner.ts';
import { makeStartReplay } from '../delivery/replay/replay-start.ts';
import { makeReplayStore } from '../delivery/replay/replay-store.ts';
import { makeReadHistory } from '../delivery/store/delivery-history.ts';
import { makeDeliveryStore } from '../delivery/store/delivery-store.ts';
import { makeFindDeliveryWithWebhook, makeFindWebhook } from '../delivery/store/find-webhook.ts';
import { makeReadResponses } from '../delivery/store/read-responses.ts';
import type { Environment } from '../platform/environment.ts';
import { makeRandomIds } from '../platform/identifiers.ts';
import { makeKeyring } from '../platform/keyring.ts';
import type { Runtime } from '../platform/runtime.ts';
import type { Telemetry } from '../platform/telemetry.ts';
import { webhookProblems } from '../webhooks/routes.ts';
import { makeWebhookStore } from '../webhooks/webhook-store.ts';

/** Composes the function that handles the delivery history of webhooks, resends, replays and tests. */
export function composeDeliveriesApi(
  environment: Environment<typeof deliveriesApiEnvironment>,
  { dynamo, sqs, time, random }: Pick<Runtime, 'dynamo' | 'sqs' | 'time' | 'random'>,
  { log }: Pick<Telemetry, 'log'>,
  perMinute = requestLimits,
) {
  const table = environment.deliveriesTable;
  const stored = { ...environment, ...time, dynamo, table };
  const store = makeDeliveryStore(stored);
  const replays = makeReplayStore(stored);
  const retryQueue = makeAttemptQueue({ ...time, sqs, queueUrl: environment.retryQueueUrl });
  const findWebhook = makeFindWebhook(dynamo, environment.webhooksTable);
  const readHistory = makeReadHistory({ dynamo, table, store });
  const makeId = makeRandomIds(random);
  const shared = { ...environment, log, ...time, store, retryQueue, findWebhook, makeId };
  const limits = makeRequestLimits({ ...stored, ...perMinute });
  const run = makeRunReplay({ ...shared, replays, readHistory });

  return makeApi({
    ...time,
    environment,
    dynamo,
    keyring: makeKeyring({ ...time, dynamo, table: environment.keyringTable }),
    log,
    resources: resourcesOf(
      deliveryRoutes,
      { ...webhookProblems, ...deliveryProblems },
      {
        sendTest: makeSendTest({
          ...shared,
          webhooks: makeWebhookStore({ dynamo, table: environment.webhooksTable }),
          limits,
        }),
        ...makeDeliveryHandlers({
          ...shared,
          findDeliveryWithWebhook: makeFindDeliveryWithWebhook(store, environment.webhooksTable),
          readResponses: makeReadResponses(stored),
          readHistory,
          limits,
          resend: makeResend(shared),
        }),
        ...makeReplayHandlers({
          ...shared,
          replays,
          startReplay: makeStartReplay({ ...shared, replays, run }),
          random: random.number,
        }),
      },
    ),
  });
}
