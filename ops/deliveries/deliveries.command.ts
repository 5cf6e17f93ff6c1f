import { type Command, Option } from 'commander';
import type { AttemptRecord, Delivery } from '../../lambdas/delivery/delivery.ts';
import {
  stateFromWire,
  toAttemptRecord,
  type WireState,
  wireReplayStates,
  wireResults,
  wireStates,
} from '../../lambdas/delivery/representation.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import {
  accountId,
  deliveryId,
  eventName,
  momentBefore,
  momentForms,
  wholeNumber,
} from '../command-line/option-values.ts';
import { iso, makeShape, type ObjectReport, printable, type Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import type { Resent, ShownDelivery, UndeliveredCount } from './deliveries.ts';
import type { Replayed } from './replay-deliveries.ts';
import type { RangeOutcome } from './replay-range.ts';

/** Adds `deliveries`. */
export function addDeliveries(program: Command, run: Run): void {
  const deliveries = program
    .command('deliveries')
    .description('what became of events: list, show, resend, replay')
    .addHelpText('after', examples);

  const list = run(actions, all => all.listDeliveries, delivery.list(none));
  const countUndelivered = run(actions, all => all.countUndelivered, count.list(none));
  deliveries
    .command('list')
    .description('list the deliveries of an account, newest first; without --account: count undelivered deliveries')
    .option('--account <id>', 'the account', accountId)
    .option('--event <name>', 'the event that the webhook is for', eventName)
    .addOption(new Option('--state <state>', 'those in this state only').choices(states))
    .option('--since <time>', `of events accepted from then on: ${momentForms}`, momentBefore())
    .option('--until <time>', 'of events accepted before that', momentBefore())
    .option('--limit <n>', 'show at most n deliveries or counts', wholeNumber(1, 100_000), 100)
    .addHelpText('after', listNotes)
    .action(({ state: word, account, ...options }: ListOptions, command: Command) => {
      const state = word && stateFromWire(word);
      requireSpan(options, command);
      if (account !== undefined) return list({ ...options, account, state });
      if (state === 'delivered') return command.error('error: --state entregue needs --account.');
      return countUndelivered({ ...options, state });
    });

  deliveries
    .command('show')
    .description("show the state of a delivery, its attempts and the receiver's answers")
    .argument(...deliveryArgument)
    .option('--body', 'show the body that is sent, too; the audit trail tells that you looked')
    .action(run(actions, all => all.showDelivery, shown));

  deliveries
    .command('resend')
    .description('send a delivery now: on a new schedule, or ahead of its next attempt')
    .argument(...deliveryArgument)
    .action(run(actions, all => all.resendDelivery, resent));

  const replay = run(actions, all => all.replay, replayed);
  const replayAll = run(replayAllActions, all => all.replayAll, allReplayed);
  deliveries
    .command('replay')
    .description("send again what failed or was held of a webhook's deliveries, by when their events were accepted")
    .option('--account <id>', 'the account (default: all)', accountId)
    .option('--event <name>', 'the event that the webhook is for (default: all of the account)', eventName)
    .addOption(
      new Option('--state <state>', 'those in this state').choices(Object.keys(replayedStates)).makeOptionMandatory(),
    )
    .requiredOption('--since <time>', `accepted from then on: ${momentForms}`, momentBefore())
    .option('--until <time>', 'accepted before that (default: now)', momentBefore())
    .addHelpText('after', replayNotes)
    .action(({ account, event, state, since: from, until: to }: ReplayOptions, command: Command) => {
      requireSpan({ since: from, until: to }, command);
      const range = { wanted: replayedStates[state], from, to };
      if (event === undefined) return replayAll({ account, ...range });
      if (account === undefined) return command.error('error: --event needs --account.');
      return replay({ account, event, ...range });
    });
}

const replayAllActions = () => import('./replay-all.ts');

const examples = `
A delivery is named by its webhook-id header, which "publish" shows too.

Examples:
  npm run ops -- deliveries list --state falhou
  npm run ops -- deliveries list --account acme --since 24h
  npm run ops -- deliveries show evt_2Qm0pXkD1nVb8sYfTzR4uWcJe7H
  npm run ops -- deliveries resend evt_2Qm0pXkD1nVb8sYfTzR4uWcJe7H
  npm run ops -- deliveries replay --account acme --event demanda.criada --state retida --since 2d`;

const states = Object.values(wireStates);

const listNotes = `
With --account it lists deliveries, of all events or of one. Without it counts those that are not delivered, by webhook and
state, most first: what waits (pendente), failed for good (falhou), is held (retida) or was cancelled (cancelada).

Examples:
  npm run ops -- deliveries list --state falhou
  npm run ops -- deliveries list --account acme --since 24h
  npm run ops -- deliveries list --account acme --event demanda.criada --state falhou`;

interface ListOptions {
  readonly account?: string;
  readonly event?: EventName;
  readonly state?: WireState;
  readonly since?: number;
  readonly until?: number;
  readonly limit: number;
}

/** Refuses a span that ends before it begins. */
function requireSpan(span: Partial<Record<'since' | 'until', number | undefined>>, command: Command): void {
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = span;
  if (until <= since) command.error('error: --until must be later than --since.');
}

const deliveryArgument = ['<id>', 'as list shows it; its webhook-id header', deliveryId] as const;

const replayNotes = `
Deliveries of the webhook that is registered now begin new schedules through the retry lane, ten a second, newest first. A
replay skips a delivery whose state has changed, tests, and deliveries of earlier registrations. One replay of a webhook at a
time. The command shows how far it is and waits for its end; the service goes on without it.

Without --event it takes every webhook of the account, without both those of all accounts: it asks with their number, replays ten
at once, and tells each by a line. Typed again with the same --since and --until it skips those whose replay of that range exists.

Examples:
  npm run ops -- deliveries replay --account acme --event demanda.criada --state falhou --since 6h
  npm run ops -- deliveries replay --account acme --event demanda.criada --state retida \\
    --since 2026-11-20T08:00:00-03:00 --until 2026-11-20T18:00:00-03:00
  npm run ops -- deliveries replay --state falhou --since 2026-11-20T10:00:00-03:00 --until 2026-11-20T11:00:00-03:00`;

/** The states that a replay may send again. */
const replayedStates = { [wireStates.failed]: 'failed', [wireStates.held]: 'held' } as const;

interface ReplayOptions {
  readonly account?: string;
  readonly event?: EventName;
  readonly state: keyof typeof replayedStates;
  readonly since: number;
  readonly until?: number;
}

function actions() {
  return import('./deliveries.ts');
}

/** A delivery without its body: that is confidential to the webhook's owner. */
export const delivery = makeShape<Delivery>([
  { json: 'id', heading: 'delivery', value: ({ id }) => id },
  { json: 'messageId', heading: 'message', in: 'show', value: ({ messageId }) => messageId },
  { json: 'accountId', value: ({ accountId }) => accountId },
  { json: 'evento', heading: 'event', value: ({ eventName }) => eventName },
  { heading: 'account', in: 'show', value: ({ accountId }) => accountId },
  { json: 'webhookId', value: ({ webhookId }) => webhookId },
  { json: 'state', heading: 'state', value: ({ state }) => wireStates[state] },
  { json: 'createdAt', heading: 'accepted', value: ({ createdAt }) => iso(createdAt) },
  { heading: 'attempts', in: 'list', value: ({ attempt }) => attempt - 1 },
  { heading: 'last result', in: 'list', value: ({ attempts }) => lastResultOf(attempts) },
  { json: 'nextAttemptAt', heading: 'next attempt', value: ({ wait }) => iso(wait?.nextAttemptAt) },
  { json: 'settledAt', heading: 'settled', in: 'show', value: ({ settledAt }) => iso(settledAt) },
  { json: 'attempts', value: ({ attempts }) => attempts.map(toAttemptRecord) },
]);

/** Reports a delivery with its attempts, and with the answers as far as they were read. */
export function reportDelivery(found: Delivery): ObjectReport {
  const { json, text } = delivery.show(found);
  const parts = [text, attempt.table(found.attempts, 'No attempt yet.'), ...found.attempts.flatMap(answerOf)];
  return { json, text: parts.join('\n\n') };
}

function shown({ delivery: found, withBody }: ShownDelivery): Report {
  const { json, text } = reportDelivery(found);
  if (!withBody) return { json, text };
  return { json: { ...json, body: found.body }, text: `${text}\n\nbody:\n${printable(found.body)}` };
}

/** Returns what the receiver answered an attempt with, if it said anything. */
function answerOf({ number, response }: AttemptRecord): readonly string[] {
  return response ? [`answer to attempt ${number}:\n${printable(response)}`] : [];
}

function lastResultOf(attempts: Delivery['attempts']): string | undefined {
  const latest = attempts.at(-1);
  return latest && wireResults[latest.result];
}

const attempt = makeShape<AttemptRecord>([
  { heading: 'attempt', value: ({ number }) => number },
  { heading: 'begun', value: ({ startedAt }) => startedAt },
  { heading: 'took', value: ({ durationMs }) => `${durationMs} ms` },
  { heading: 'result', value: ({ result }) => wireResults[result] },
  { heading: 'status', value: ({ status }) => status },
]);

const none = 'No such deliveries.';

const count = makeShape<UndeliveredCount>([
  { json: 'accountId', heading: 'account', value: ({ accountId }) => accountId },
  { heading: 'event', value: ({ eventName }) => eventName },
  { heading: 'state', value: ({ state }) => wireStates[state] },
  { json: 'count', heading: 'deliveries', value: ({ count }) => count },
  { json: 'newestAcceptedAt', heading: 'newest accepted', value: ({ newestAcceptedAt }) => newestAcceptedAt },
  { json: 'evento', value: ({ eventName }) => eventName },
  { json: 'state', value: ({ state }) => wireStates[state] },
]);

function resent({ delivery: { id, state }, isQueued }: Resent): Report {
  const next = state === 'pending' ? 'has its next attempt now' : 'begins a new schedule now';
  const late = isQueued ? '' : ' But its queue did not take it: the sweeper sends it within a few minutes.';
  return { json: { id, resent: true }, text: `Delivery ${id} ${next}.${late}` };
}

function replayed(done: Replayed): Report {
  const text =
    done.total === 0
      ? 'There was nothing to replay.'
      : `Queued ${done.sent} of ${done.total} deliveries again: "deliveries list" shows what becomes of them.`;
  return { json: { ...done, state: wireReplayStates.completed }, text };
}

const outcome = makeShape<RangeOutcome>([
  { json: 'accountId', heading: 'account', value: ({ account }) => account },
  { json: 'evento', heading: 'event', value: ({ event }) => event },
  { json: 'outcome', heading: 'outcome', value: ({ outcome }) => outcome },
  { json: 'id', value: found => (found.outcome === 'done' ? found.id : undefined) },
  { json: 'total', heading: 'deliveries', value: found => (found.outcome === 'done' ? found.total : undefined) },
  { json: 'sent', heading: 'queued', value: found => (found.outcome === 'done' ? found.sent : undefined) },
  { json: 'reason', heading: 'reason', value: found => (found.outcome === 'skipped' ? found.reason : undefined) },
]);

function allReplayed(outcomes: readonly RangeOutcome[]): Report {
  return outcome.list('No webhook has such deliveries.')(outcomes);
}
