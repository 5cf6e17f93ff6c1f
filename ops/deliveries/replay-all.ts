import type { ReplayRange } from '../../lambdas/delivery/replay/replay.ts';
import type { StartReplay } from '../../lambdas/delivery/replay/replay-start.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import type { AuditedTask } from '../audit/audit.ts';
import type { ShowProgress } from '../stage/operator.ts';
import { openRetryQueue } from '../stage/queues.ts';
import { openDeliveries, openReplays } from '../stage/stores.ts';
import type { Target } from '../stage/target.ts';
import { countUndelivered } from './deliveries.ts';
import { replayDeliveries } from './replay-deliveries.ts';
import { optionsOf, type RangeOutcome, type ReplayedWebhook, type ReplayOne, replayRange } from './replay-range.ts';

/** The choice of the webhooks: those of all accounts by default. */
interface ChosenAccount {
  readonly account?: string | undefined;
}

/**
 * Replays a range of the deliveries of all webhooks of an account, or of all accounts, and waits for the end. @throws {CliError}
 * where nobody confirmed.
 */
export async function replayAll(
  { confirm, ...task }: AuditedTask,
  { account, ...range }: ReplayRange & ChosenAccount,
): Promise<readonly RangeOutcome[]> {
  const { target, progress, tell } = task;
  const { clock, pause } = target;
  const webhooks = await webhooksWith(target, { account, ...range }, progress);
  if (webhooks.length === 0) return [];
  const whose = account === undefined ? target.label : `account "${account}" of ${target.label}`;
  const count = webhooks.length > mostCounted ? `more than ${mostCounted.toLocaleString('en')}` : webhooks.length;
  await confirm(
    `This sends deliveries of ${count} webhook${webhooks.length === 1 ? '' : 's'} of ${whose} again, ten webhooks at once and ten deliveries a second each.`,
  );
  tell(`To go on after an interruption, type it again with ${optionsOf(range)}`);
  const { startWith, find, ...replays } = openReplays(target, openRetryQueue(target));
  const replayOne: ReplayOne = (request, unique, onBegun) => {
    const startAs = startWith(() => unique);
    const start: StartReplay = async (webhook, wanted) => {
      const begun = await startAs(webhook, wanted);
      if (begun?.outcome === 'started') await onBegun();
      return begun;
    };
    return replayDeliveries(
      request,
      { ...replays, start, now: clock.now, pause },
      { progress: () => {}, nameDone: () => {} },
    );
  };
  return replayRange(webhooks, range, { find, replayOne }, { ...task, now: clock.now });
}

/** Finds the webhooks that have deliveries in a range: those of an account by their own partitions, those of all in one scan. */
async function webhooksWith(
  target: Target,
  { account, from, to, wanted }: ReplayRange & ChosenAccount,
  progress: ShowProgress,
): Promise<ReplayedWebhook[]> {
  if (account === undefined) {
    const query = { since: from, until: to, state: wanted, limit: Number.POSITIVE_INFINITY };
    const counts = await countUndelivered(target, query, progress);
    return counts.map(({ accountId, eventName }) => ({ account: accountId, event: eventName }));
  }
  const { history } = openDeliveries(target);
  const pages = await Promise.all(
    EVENT_NAMES.map(event =>
      history({
        accountId: account,
        eventName: event,
        state: wanted,
        from,
        before: to,
        registration: null,
        limit: 1,
        after: undefined,
      }),
    ),
  );
  // A page may hold none although others follow it.
  const mayHaveSome = EVENT_NAMES.filter((_, at) => pages[at]?.deliveries.length || pages[at]?.next !== undefined);
  return mayHaveSome.map(event => ({ account, event }));
}

/** Of more webhooks than that a question names no number. */
const mostCounted = 1_000;
