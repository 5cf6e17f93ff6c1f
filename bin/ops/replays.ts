import { makeReadHistory } from '../../lambdas/delivery/delivery-history.ts';
import { makeDeliveryStore } from '../../lambdas/delivery/delivery-store.ts';
import { makeFindWebhook } from '../../lambdas/delivery/lookup.ts';
import { makeRunReplay, replayPage } from '../../lambdas/delivery/replay/replay-runner.ts';
import { makeStartReplay } from '../../lambdas/delivery/replay/replay-start.ts';
import { makeReplayStore } from '../../lambdas/delivery/replay/replay-store.ts';
import { systemClock } from '../../lambdas/platform/clock.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { openRetryQueue } from './queues.ts';
import { connectDynamo } from './stores.ts';
import { requireOutput, type Target } from './target.ts';

// Loaded by the command that replays, when it does: the SDK takes longer to load than the rest takes to run.

/** The target's replays, begun and driven on as the service itself does. */
export function openReplays(target: Target) {
  const dynamo = connectDynamo(target);
  const now = systemClock;
  const table = requireOutput(target, 'DeliveriesTable');
  const stored = { dynamo, table, now, historyDays: Number(requireOutput(target, 'HistoryDays')) };
  const store = makeDeliveryStore(stored);
  const replays = makeReplayStore(stored);
  const findWebhook = makeFindWebhook(dynamo, requireOutput(target, 'WebhooksTable'));
  const run = makeRunReplay({
    ...silence,
    replays,
    readHistory: makeReadHistory({ dynamo, table, store }),
    store,
    findWebhook,
    retryQueue: openRetryQueue(target),
    page: replayPage,
    now,
  });
  return {
    findWebhook,
    findLatest: replays.findLatest,
    start: makeStartReplay({ ...silence, replays, run, makeId: randomId, now }),
  };
}

/** What goes wrong on the way is the sweeper's to mend, which goes on with every replay each minute. */
const silence = { log: { info: () => {}, warn: () => {}, error: () => {} }, count: () => {} };
