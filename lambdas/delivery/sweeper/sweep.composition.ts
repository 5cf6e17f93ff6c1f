import type { Context } from 'aws-lambda';
import type { Environment } from '../../platform/environment.ts';
import type { Runtime } from '../../platform/runtime.ts';
import type { sweepEnvironment } from '../environment.ts';
import { makeAttemptQueue } from '../queues.ts';
import { makeContinueReplay, makeRunReplay } from '../replay/replay-runner.ts';
import { makeReplayStore } from '../replay/replay-store.ts';
import { makeReadHistory } from '../store/delivery-history.ts';
import { makeDeliveryStore } from '../store/delivery-store.ts';
import { makeFindWebhook } from '../store/find-webhook.ts';
import type { SweepTelemetry } from '../telemetry.ts';
import { makePublishAnnouncement, makePublishAnnouncements } from './announcements.ts';
import { makeSweep } from './sweep.ts';

/** Assembles the sweeper, which handles due deliveries, replays and announcements. */
export function composeSweep(
  environment: Environment<typeof sweepEnvironment>,
  runtime: Pick<Runtime, 'dynamo' | 'sqs' | 'publish' | 'time'>,
  telemetry: SweepTelemetry,
) {
  const { dynamo, sqs, publish, time } = runtime;
  const table = environment.deliveriesTable;
  const stored = { ...environment, ...time, dynamo, table };
  const store = makeDeliveryStore(stored);
  const replays = makeReplayStore(stored);
  const retryQueue = makeAttemptQueue({ ...time, sqs, queueUrl: environment.retryQueueUrl });
  const webhooks = { ...time, dynamo, table: environment.webhooksTable };
  const findWebhook = makeFindWebhook(dynamo, webhooks.table);
  const shared = { ...environment, ...telemetry, ...time, store, retryQueue, findWebhook };

  const run = makeRunReplay({
    ...shared,
    replays,
    readHistory: makeReadHistory({ dynamo, table, store }),
  });
  const sweep = makeSweep({
    ...shared,
    continueReplay: makeContinueReplay({ ...time, replays, run }),
  });
  const publishAnnouncements = makePublishAnnouncements({
    ...telemetry,
    ...webhooks,
    publish: makePublishAnnouncement(publish, environment.operationsTopicArn),
  });

  return async function runSweep(_event: unknown, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<void> {
    const hasTime = () => context.getRemainingTimeInMillis() > timeForOnePage;
    const [swept, announced] = await Promise.allSettled([sweep(hasTime), publishAnnouncements(hasTime)]);
    if (swept.status === 'rejected') throw swept.reason;
    if (announced.status === 'rejected') throw announced.reason;
  };
}

/** A sweep starts another page only if more than this many milliseconds remain. Otherwise, the next sweep continues. */
const timeForOnePage = 12_000;
