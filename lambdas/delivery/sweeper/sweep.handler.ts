import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { makeReadEventSourceState } from '../../platform/aws/event-source.ts';
import { systemClock } from '../../platform/clock.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { makeHandler } from '../../platform/lambda-handler.ts';
import { slownessPrefix } from '../../webhooks/slow-since.ts';
import { sweepEnvironment } from '../environment.ts';
import { makeSlownessStore } from '../isolation/slowness-store.ts';
import { makeAttemptQueue, makeSqs } from '../queues.ts';
import { makeRefusalTotals, refusalsPrefix } from '../refusals/refusal-counts.ts';
import { makePublishNotice } from '../refusals/refused-events-topic.ts';
import { makeSuppressedRefusalsTask } from '../refusals/suppressed-refusals.ts';
import { makeReplayTask, makeRunReplay, replayPage } from '../replay/replay-runner.ts';
import { makeReplayStore, replaysPrefix } from '../replay/replay-store.ts';
import { makeReadHistory } from '../store/delivery-history.ts';
import { makeDeliveryStore } from '../store/delivery-store.ts';
import { makeFindWebhook } from '../store/find-webhook.ts';
import { makeDeliveryTelemetry } from '../telemetry.ts';
import { makePublishAnnouncement, makePublishAnnouncements } from './announcements.ts';
import { makeHourlyLook } from './hourly-look.ts';
import { makeSlowBacklogTask } from './slow-backlog.ts';
import { makeSweep } from './sweep.ts';

const environment = readEnvironment(sweepEnvironment);
const telemetry = makeDeliveryTelemetry('sweep');
const now = systemClock;

const dynamo = makeDynamo();
const table = environment.DELIVERIES_TABLE;
const stored = { dynamo, table, now, historyDays: environment.HISTORY_DAYS };
const store = makeDeliveryStore(stored);
const replays = makeReplayStore(stored);
const sqs = makeSqs();
const queues = {
  retry: makeAttemptQueue({ sqs, queueUrl: environment.RETRY_QUEUE_URL, now }),
  slow: makeAttemptQueue({ sqs, queueUrl: environment.SLOW_QUEUE_URL, now }),
};
const slownessStore = makeSlownessStore({ dynamo, table, now, rate: environment.SLOW_RATE });
const findWebhook = makeFindWebhook(dynamo, environment.WEBHOOKS_TABLE);

const readHistory = makeReadHistory({ dynamo, table, store });
const run = makeRunReplay({
  ...telemetry,
  replays,
  readHistory,
  store,
  findWebhook,
  retryQueue: queues.retry,
  page: replayPage,
  now,
});
const publishAnnouncements = makePublishAnnouncements({
  ...telemetry,
  dynamo,
  table: environment.WEBHOOKS_TABLE,
  publish: makePublishAnnouncement(environment.OPERATIONS_TOPIC_ARN),
});

const sweep = makeSweep({
  ...telemetry,
  store,
  queues,
  now,
  tasks: {
    [slownessPrefix]: makeSlowBacklogTask({
      ...telemetry,
      slownessStore,
      store,
      findWebhook,
      queues,
      slowRate: environment.SLOW_RATE,
      now,
    }),
    [replaysPrefix]: makeReplayTask({ replays, run, now }),
    [refusalsPrefix]: makeSuppressedRefusalsTask({
      ...telemetry,
      totals: makeRefusalTotals({ ...stored, random: Math.random }),
      publish: makePublishNotice(environment.REFUSED_EVENTS_TOPIC_ARN),
      now,
    }),
  },
});

const hourlyLook = makeHourlyLook({
  ...telemetry,
  eventSources: environment.EVENT_SOURCES,
  readEventSourceState: makeReadEventSourceState(),
  sqs,
  deadLetterQueueUrl: environment.DEAD_LETTER_QUEUE_URL,
  now,
});

/** Runs every minute: sends due deliveries, recovers overdue ones, runs replays and slow backlogs, publishes announcements and counts of refused events. */
export const handler = makeHandler(telemetry, async (_event: unknown, context) => {
  const hasTime = () => context.getRemainingTimeInMillis() > timeForOnePage;
  const [swept, announced] = await Promise.allSettled([sweep(hasTime), publishAnnouncements(hasTime), hourlyLook()]);
  if (swept.status === 'rejected') throw swept.reason;
  if (announced.status === 'rejected') throw announced.reason;
});

/** No page begins with less time than this, in milliseconds; the next sweep goes on. */
const timeForOnePage = 12_000;
