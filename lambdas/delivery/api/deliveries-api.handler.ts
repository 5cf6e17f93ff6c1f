import { resourceMetadataUrl } from '../../api/protected-resource.ts';
import { resourcesOf } from '../../api/route.ts';
import { makeApi } from '../../api/router.ts';
import { makeBearerAuthentication } from '../../auth/sessions/bearer.ts';
import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { systemClock } from '../../platform/clock.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { randomId } from '../../platform/identifiers.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import { makeHttpHandler } from '../../platform/lambda-handler.ts';
import { calledUrl } from '../../platform/own-urls.ts';
import { makeWebhookNotFound } from '../../webhooks/webhook-not-found.ts';
import { makeWebhookStore } from '../../webhooks/webhook-store.ts';
import { makeReadWithoutWebhook } from '../../webhooks/without-webhook.ts';
import { deliveriesApiEnvironment } from '../environment.ts';
import { makeAttemptQueue, makeSqs } from '../queues.ts';
import { makeRunReplay, replayPage } from '../replay/replay-runner.ts';
import { makeStartReplay } from '../replay/replay-start.ts';
import { makeReplayStore } from '../replay/replay-store.ts';
import { makeReadHistory } from '../store/delivery-history.ts';
import { makeDeliveryStore } from '../store/delivery-store.ts';
import { makeFindDeliveryWithWebhook, makeFindWebhook } from '../store/find-webhook.ts';
import { makeReadAnswers } from '../store/read-answers.ts';
import { makeDeliveryTelemetry } from '../telemetry.ts';
import { makeDeliveryHandlers } from './deliveries.ts';
import { makeReplayHandlers } from './replays.ts';
import { makeRequestLimits } from './request-limits.ts';
import { makeResend } from './resend.ts';
import { deliveryRoutes } from './routes.ts';
import { makeSendTest } from './test-event.ts';

const environment = readEnvironment(deliveriesApiEnvironment);
const telemetry = makeDeliveryTelemetry('history');
const dynamo = makeDynamo();
const now = systemClock;

const table = environment.DELIVERIES_TABLE;
const stored = { dynamo, table, now, historyDays: environment.HISTORY_DAYS };
const store = makeDeliveryStore(stored);
const replays = makeReplayStore(stored);
const retryQueue = makeAttemptQueue({ sqs: makeSqs(), queueUrl: environment.RETRY_QUEUE_URL, now });
const findWebhook = makeFindWebhook(dynamo, environment.WEBHOOKS_TABLE);

const webhooks = makeWebhookStore({ dynamo, table: environment.WEBHOOKS_TABLE });

const findDeliveryWithWebhook = makeFindDeliveryWithWebhook(store, environment.WEBHOOKS_TABLE);
const readHistory = makeReadHistory({ dynamo, table, store });
const webhookNotFound = makeWebhookNotFound(makeReadWithoutWebhook(stored));
const shared = { ...telemetry, store, retryQueue, findWebhook, webhookNotFound, now };

const limits = makeRequestLimits({
  dynamo,
  table,
  now,
  testLimit: environment.TEST_LIMIT,
  resendLimit: environment.RESEND_LIMIT,
});

const run = makeRunReplay({ ...shared, replays, readHistory, page: replayPage });

/** {base_url}: the delivery history of a webhook, with resends, replays and tests. */
export const handler = makeHttpHandler(
  telemetry,
  makeApi({
    log: telemetry.log,
    docsUrl: environment.DOCS_URL,
    resourceMetadata: request => resourceMetadataUrl(calledUrl(request, environment.AUDIENCES)),
    authenticate: makeBearerAuthentication({
      dynamo,
      keyring: makeKeyring({ dynamo, table: environment.KEYRING_TABLE, now }),
      tables: {
        clients: environment.CLIENTS_TABLE,
        users: environment.USERS_TABLE,
        sessions: environment.SESSIONS_TABLE,
      },
      issuers: environment.ISSUERS,
      audiences: environment.AUDIENCES,
      now,
    }),
    resources: resourcesOf(deliveryRoutes, {
      sendTest: makeSendTest({ ...shared, webhooks, limits, demandsUrl: environment.DEMANDS_URL, makeId: randomId }),
      ...makeDeliveryHandlers({
        findWebhook,
        webhookNotFound,
        findDeliveryWithWebhook,
        readAnswers: makeReadAnswers(stored),
        readHistory,
        limits,
        resend: makeResend(shared),
      }),
      ...makeReplayHandlers({
        ...shared,
        replays,
        startReplay: makeStartReplay({ ...shared, replays, run, makeId: randomId }),
      }),
    }),
  }),
  environment,
);
