import type { Context } from 'aws-lambda';
import type * as z from 'zod/mini';
import type { Outside } from '../../platform/outside.ts';
import type { sweepEnvironment } from '../environment.ts';
import { slownessPrefix } from '../isolation/slow-since.ts';
import { makeSlownessStore } from '../isolation/slowness-store.ts';
import { makeAttemptQueue } from '../queues.ts';
import { makeRefusalTotals, refusalsPrefix } from '../refusals/refusal-counts.ts';
import { makePublishNotice } from '../refusals/refused-events-topic.ts';
import { makeSuppressedRefusalsTask } from '../refusals/suppressed-refusals.ts';
import { makeReplayTask, makeRunReplay, replayPage } from '../replay/replay-runner.ts';
import { makeReplayStore, replaysPrefix } from '../replay/replay-store.ts';
import { makeReadHistory } from '../store/delivery-history.ts';
import { makeDeliveryStore } from '../store/delivery-store.ts';
import { makeFindWebhook } from '../store/find-webhook.ts';
import type { MeasuringTelemetry } from '../telemetry.ts';
import { makePublishAnnouncement, makePublishAnnouncements } from './announcements.ts';
import { makeHourlyLook } from './hourly-look.ts';
import { makeKeyLook } from './key-look.ts';
import { makeSlowBacklogTask } from './slow-backlog.ts';
import { makeSweep } from './sweep.ts';

/** Composes the sweeper: what is due, replays, slow backlogs, announcements, counts of refused events, and its looks at what else may fail. */
export function composeSweep(
  environment: z.infer<typeof sweepEnvironment>,
  outside: Pick<Outside, 'dynamo' | 'sqs' | 'publish' | 'readEventSourceState' | 'readKeyState' | 'time' | 'random'>,
  telemetry: MeasuringTelemetry,
) {
  const { dynamo, sqs, publish, readEventSourceState, readKeyState, time, random } = outside;
  const table = environment.DELIVERIES_TABLE;
  const stored = { ...time, dynamo, table, historyDays: environment.HISTORY_DAYS };
  const store = makeDeliveryStore(stored);
  const replays = makeReplayStore(stored);
  const queues = {
    retry: makeAttemptQueue({ ...time, sqs, queueUrl: environment.RETRY_QUEUE_URL }),
    slow: makeAttemptQueue({ ...time, sqs, queueUrl: environment.SLOW_QUEUE_URL }),
  };
  const findWebhook = makeFindWebhook(dynamo, environment.WEBHOOKS_TABLE);
  const shared = { ...telemetry, ...time, store, queues, findWebhook };

  const run = makeRunReplay({
    ...shared,
    replays,
    readHistory: makeReadHistory({ dynamo, table, store }),
    retryQueue: queues.retry,
    page: replayPage,
  });
  const sweep = makeSweep({
    ...shared,
    tasks: {
      [slownessPrefix]: makeSlowBacklogTask({
        ...shared,
        slownessStore: makeSlownessStore({ ...stored, rate: environment.SLOW_RATE }),
        slowRate: environment.SLOW_RATE,
      }),
      [replaysPrefix]: makeReplayTask({ ...time, replays, run }),
      [refusalsPrefix]: makeSuppressedRefusalsTask({
        ...shared,
        totals: makeRefusalTotals({ ...stored, random: random.number }),
        publish: makePublishNotice(publish, environment.REFUSED_EVENTS_TOPIC_ARN),
      }),
    },
  });
  const publishAnnouncements = makePublishAnnouncements({
    ...telemetry,
    dynamo,
    table: environment.WEBHOOKS_TABLE,
    publish: makePublishAnnouncement(publish, environment.OPERATIONS_TOPIC_ARN),
  });
  const hourlyLook = makeHourlyLook({
    ...telemetry,
    ...time,
    eventSources: environment.EVENT_SOURCES,
    readEventSourceState,
    sqs,
    deadLetterQueueUrl: environment.DEAD_LETTER_QUEUE_URL,
  });
  const keyLook = makeKeyLook({ ...telemetry, ...time, keyArn: environment.KEY_ARN, readKeyState });

  return async function runSweep(_event: unknown, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<void> {
    const hasTime = () => context.getRemainingTimeInMillis() > timeForOnePage;
    const looks = [hourlyLook(), keyLook()];
    const [swept, announced] = await Promise.allSettled([sweep(hasTime), publishAnnouncements(hasTime), ...looks]);
    if (swept.status === 'rejected') throw swept.reason;
    if (announced.status === 'rejected') throw announced.reason;
  };
}

/** No page begins with less time than this, in milliseconds; the next sweep goes on. */
const timeForOnePage = 12_000;
