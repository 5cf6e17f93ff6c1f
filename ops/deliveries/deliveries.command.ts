import * as z from 'zod';
import type { AttemptRecord, Delivery } from '../../lambdas/delivery/delivery.ts';
import { failureCauses } from '../../lambdas/delivery/failure-causes.ts';
import {
  toAttemptRecord,
  toDisplayed,
  wireReplayStates,
  wireResults,
  wireStates,
} from '../../lambdas/delivery/representation.ts';
import type { ReadHistory } from '../../lambdas/delivery/store/delivery-history.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { command, type Noun } from '../audit/command.ts';
import { argument, flag, option, timed } from '../command-line/arg-spec.ts';
import { accountId, deliveryId, eventName, replayId, time, timeForms, wholeNumber } from '../command-line/forms.ts';
import { iso, makeFormatter, type ObjectReport, printable } from '../command-line/report.ts';
import { CliError } from '../stage/operator.ts';
import { openDeliveries } from '../stage/stores.ts';
import { countUndelivered, readDeliveries, requireDelivery, resend, type UndeliveredCount } from './deliveries.ts';
import { cancelReplay, type ReplayOutcome, replayAll, replayWebhook } from './replay.ts';
import { withEnglishName } from './state-words.ts';

const examples = `
The id of a delivery is its webhook-id header. "publish" also shows it.

Examples:
  npm run ops -- deliveries list --state failed
  npm run ops -- deliveries list --account acme --since 24h
  npm run ops -- deliveries show evt_2Qm0pXkD1nVb8sYfTzR4uWcJe7H
  npm run ops -- deliveries resend evt_2Qm0pXkD1nVb8sYfTzR4uWcJe7H
  npm run ops -- deliveries replay --account acme --event demanda.criada --state held --since 2d`;

const listNotes = `
With --account, the command lists the deliveries of one event or of all events. Without --account, it counts undelivered
deliveries by webhook and state, largest counts first. The API names the states in Portuguese: pending (pendente), delivered
(entregue), failed (falhou), held (retida) and cancelled (cancelada). A pending delivery of a deleted webhook is counted as
pending, but --account lists it as cancelled.

Examples:
  npm run ops -- deliveries list --state failed
  npm run ops -- deliveries list --account acme --since 24h
  npm run ops -- deliveries list --account acme --event demanda.criada --state failed`;

const replayNotes = `
A replay starts a new schedule for deliveries of the currently registered webhook, at 10 deliveries a second, newest first. It
skips tests and deliveries of earlier registrations, which "deliveries list" also shows. A webhook can have one replay at a
time. The command shows progress and waits until all deliveries are queued. If the command ends earlier, the service continues
the replay. The service reads the range a second time within 2 minutes.

Without --event, the command replays all webhooks of the account. Without --account and --event, it replays all webhooks of
all accounts. It shows the number of webhooks and asks for confirmation. It replays 10 webhooks at a time and prints a line
about each. It skips webhooks that are suspended or have a replay in progress. You can repeat the command, because resent
deliveries are no longer in the selected state.

With --cancel, it stops a running replay of one webhook, even if the account started it. The audit trail has the ids of
replays that operators started. Queued deliveries are still sent within about a minute.

Examples:
  npm run ops -- deliveries replay --account acme --event demanda.criada --state failed --since 6h
  npm run ops -- deliveries replay --account acme --event demanda.criada --state held \\
    --since 2026-11-20T08:00:00-03:00 --until 2026-11-20T18:00:00-03:00
  npm run ops -- deliveries replay --state failed --since 2026-11-20T10:00:00-03:00 --until 2026-11-20T11:00:00-03:00
  npm run ops -- deliveries replay --account acme --event demanda.criada --cancel reenvio_K7tQ2mVxN0aYcRz4LdEw9B`;

const ofDelivery = { id: argument('id', "the delivery's id, which is its webhook-id header", deliveryId) };

/** Formats a delivery without its body, which is confidential to the webhook's owner. */
export const delivery = makeFormatter<Delivery>([
  { json: 'id', heading: 'delivery' },
  { json: 'messageId', heading: 'message', in: 'show' },
  { json: 'accountId' },
  { json: 'evento', heading: 'event', value: ({ eventName }) => eventName },
  { heading: 'account', in: 'show', value: ({ accountId }) => accountId },
  { json: 'webhookId' },
  {
    json: 'state',
    heading: 'state',
    value: ({ state }) => wireStates[state],
    text: ({ state }) => withEnglishName(wireStates, wireStates[state]),
  },
  { json: 'createdAt', heading: 'accepted', value: ({ createdAt }) => iso(createdAt) },
  { heading: 'attempts', in: 'list', value: ({ attempt }) => attempt - 1 },
  { heading: 'last result', in: 'list', value: ({ attempts }) => lastResultOf(attempts) },
  { json: 'nextAttemptAt', heading: 'next attempt', value: ({ wait }) => iso(wait?.nextAttemptAt) },
  { json: 'settledAt', heading: 'settled', in: 'show', value: ({ settledAt }) => iso(settledAt) },
  { json: 'attempts', value: ({ attempts }) => attempts.map(toAttemptRecord) },
]);

const attempt = makeFormatter<AttemptRecord>([
  { heading: 'attempt', value: ({ number }) => number },
  { heading: 'started', value: ({ startedAt }) => startedAt },
  { heading: 'took', value: ({ durationMs }) => `${durationMs} ms` },
  { heading: 'result', value: ({ result }) => withEnglishName(wireResults, wireResults[result]) },
  { heading: 'cause', value: ({ cause }) => cause && failureCauses[cause].word },
  { heading: 'status', value: ({ status }) => status },
]);

const count = makeFormatter<UndeliveredCount>([
  { json: 'accountId', heading: 'account' },
  { heading: 'event', value: ({ eventName }) => eventName },
  { heading: 'state', value: ({ state }) => withEnglishName(wireStates, wireStates[state]) },
  { json: 'count', heading: 'deliveries' },
  { json: 'newestAcceptedAt', heading: 'newest accepted' },
  { json: 'evento', value: ({ eventName }) => eventName },
  { json: 'state', value: ({ state }) => wireStates[state] },
]);

const outcome = makeFormatter<ReplayOutcome>([
  { json: 'accountId', heading: 'account', value: ({ account }) => account },
  { json: 'evento', heading: 'event', value: ({ event }) => event },
  { json: 'outcome', heading: 'outcome' },
  { json: 'id', value: found => (found.outcome === 'done' ? found.id : undefined) },
  { json: 'sent', heading: 'queued', value: found => (found.outcome === 'done' ? found.sent : undefined) },
  { json: 'reason', heading: 'reason', value: found => (found.outcome === 'skipped' ? found.reason : undefined) },
]);

const list = command('deliveries list', {
  description: 'list the deliveries of an account, newest first; without --account, count undelivered deliveries',
  notes: listNotes,
  args: {
    account: option('<id>', 'the account', accountId),
    event: option('<name>', 'the event that the webhook is for', eventName),
    state: option('<state>', 'only this state', z.enum(['pending', 'delivered', 'failed', 'held', 'cancelled'])),
    since: timed(option('<time>', `only events accepted since ${timeForms}`, time)),
    until: timed(option('<time>', 'only events accepted before this time', time)),
    limit: option('<n>', 'show at most n deliveries or counts', wholeNumber(1, 100_000), 100),
  },
  validate: args => validateSpan(args) || (args.account === undefined && args.state === 'delivered' && noCount),
  effect: 'reads',
  act: async ({ target, progress }, { account, state, limit, ...args }) => {
    const choice = { ...args, limit: limit + 1 }; // one more, to detect further deliveries
    if (account === undefined) {
      if (state === 'delivered') throw new CliError(noCount);
      const counts = await countUndelivered(target, { ...choice, state }, progress);
      return { counts: counts.slice(0, limit), isCutOff: counts.length > limit };
    }
    const { history, findWebhook } = openDeliveries(target);
    const readCurrent: ReadHistory = async query => {
      const registration = (await findWebhook(query.accountId, query.eventName)) ?? null;
      return history({ ...query, registration });
    };
    const found = await readDeliveries(readCurrent, { ...choice, account, state }, progress);
    return { found: found.slice(0, limit), isCutOff: found.length > limit };
  },
  report: ({ counts, found, isCutOff }) =>
    counts ? count.list(none, isCutOff)(counts) : delivery.list(none, isCutOff)(found),
});

/** Shows a delivery with the receiver's responses, and with its body if requested. */
const showDelivery = command('deliveries show', {
  description: "show the state of a delivery, its attempts and the receiver's responses",
  args: { ...ofDelivery, body: flag('also show the body; the command is then audited') },
  effect: 'discloses',
  isAudited: ({ body = false }) => body,
  act: async ({ target }, { id }) => {
    const { readResponses, findWebhook } = openDeliveries(target);
    const found = await requireDelivery(target, id);
    const webhook = await findWebhook(found.accountId, found.eventName);
    return toDisplayed(webhook?.webhookId)(await readResponses(found));
  },
  subject: (_task, { id }) => ({ delivery: id }),
  report: (found, { body }) => {
    const { json, text } = reportDelivery(found);
    if (!body) return { json, text };
    return { json: { ...json, body: found.body }, text: `${text}\n\nbody:\n${printable(found.body)}` };
  },
});

const resendDelivery = command('deliveries resend', {
  description: 'resend a delivery now: start a new schedule, or make the next attempt immediately',
  args: ofDelivery,
  effect: 'writes',
  act: async ({ target, recordResult }, { id }) => {
    const result = await resend(target, id);
    if (!result.isResent) recordResult({ count: 0 });
    return result;
  },
  subject: (_task, { id }) => ({ delivery: id }),
  report: ({ state, isResent: resent, isQueued }, { id }) => {
    const next = state === 'pending' ? 'is due for its next attempt now' : 'starts a new schedule now';
    const unqueued = isQueued ? '' : ' It could not be queued. The sweeper sends it within a few minutes.';
    const notResent = 'was not resent, because an attempt is due, is in flight or has just finished.';
    return { json: { id, resent }, text: `Delivery ${id} ${resent ? `${next}.${unqueued}` : notResent}` };
  },
});

const replay = command('deliveries replay', {
  description: 'resend failed or held deliveries of events that were accepted in a time range',
  notes: replayNotes,
  args: {
    account: option('<id>', 'the account (default: all accounts)', accountId),
    event: option('<name>', 'the event of the webhook (default: all events)', eventName),
    state: option('<state>', 'resend deliveries in this state', z.enum(['failed', 'held'])),
    since: timed(option('<time>', `resend events accepted since ${timeForms}`, time)),
    until: timed(option('<time>', 'resend events accepted before this time (default: now)', time)),
    cancel: option('<id>', 'cancel the running replay with this id instead', replayId),
  },
  validate: validateReplay,
  effect: 'writes',
  withDefaults: ({ target }, args) => {
    if (args.cancel !== undefined) return args;
    const { since = 0, until = target.clock.now() } = args;
    if (until > since) return { ...args, until };
    throw new CliError(`The range ends at ${isoTime(until)}, before it starts. Specify an earlier --since.`);
  },
  act: async (task, { account, event, state, since: from, until: to = task.target.clock.now(), cancel: id }) => {
    if (account !== undefined && event !== undefined && id !== undefined) {
      return { cancelled: await cancelReplay(task, { account, event, id }) };
    }
    if (state === undefined || from === undefined) throw new CliError(noRange);
    const range = { from, to, sourceState: state };
    if (account === undefined || event === undefined) return { all: await replayAll(task, { account, ...range }) };
    return { one: await replayWebhook(task, { account, event, ...range }) };
  },
  subject: (_task, { account, event, cancel: replay }) =>
    event === undefined ? { account, all: account === undefined ? 'accounts' : 'events' } : { account, event, replay },
  change: ({ state, since, until, cancel }) => {
    if (cancel !== undefined) return { cancel: true };
    return { state, since: since && isoTime(since), until: until && isoTime(until) };
  },
  report: ({ all, one, cancelled }) => {
    if (cancelled) {
      const text = `The replay is cancelled. Its ${cancelled.sent} queued deliveries are sent within about a minute.`;
      return { json: { ...cancelled, state: wireReplayStates[cancelled.state] }, text };
    }
    if (!one) return outcome.list('No webhooks have such deliveries.')(all);
    const text =
      one.sent === 0
        ? 'There are no deliveries to replay.'
        : `Queued ${one.sent} deliveries. "deliveries list" shows their state.`;
    return { json: { ...one, state: wireReplayStates[one.state] }, text: `${text} ${excluded}` };
  },
});

export const deliveries: Noun = {
  name: 'deliveries',
  description: 'deliveries of events: list, show, resend, replay',
  notes: examples,
  commands: [list, showDelivery, resendDelivery, replay],
};

/** Reports a delivery with its attempts, and with the receiver's responses if they were read. */
export function reportDelivery(found: Delivery): ObjectReport {
  const { json, text } = delivery.show(found);
  const table = attempt.table(found.attempts, 'No attempt yet.');
  const parts = [text, table, ...adviceOn(found.attempts), ...found.attempts.flatMap(responseTextOf)];
  return { json, text: parts.join('\n\n') };
}

/** Returns advice for the receiver's owner on each cause of failed attempts. */
function adviceOn(attempts: Delivery['attempts']): readonly string[] {
  const causes = new Set(attempts.flatMap(({ cause }) => cause ?? []));
  return [...causes].map(cause => `${failureCauses[cause].word}: ${failureCauses[cause].en}`);
}

/** Returns the receiver's response to an attempt, if the response has text. */
function responseTextOf({ number, response }: AttemptRecord): readonly string[] {
  return response ? [`response to attempt ${number}:\n${printable(response)}`] : [];
}

function lastResultOf(attempts: Delivery['attempts']): string | undefined {
  const latest = attempts.at(-1);
  return latest && withEnglishName(wireResults, wireResults[latest.result]);
}

const none = 'No such deliveries.';

const noRange = '--state and --since are required.';

/** Rejects a replay without a range, and a cancellation without exactly one webhook. */
function validateReplay({ account, event, state, cancel, ...span }: Partial<Record<ReplayWord, string>> & Span) {
  if (event !== undefined && account === undefined) return '--event requires --account.';
  if (cancel === undefined) return state === undefined || span.since === undefined ? noRange : validateSpan(span);
  if (event === undefined) return '--cancel requires --account and --event.';
  return (state !== undefined || Object.keys(span).length > 0) && '--cancel excludes --state, --since and --until.';
}

type ReplayWord = 'account' | 'event' | 'state' | 'cancel';

const excluded = 'Tests and deliveries of earlier registrations are not replayed.';

const noCount = '--state delivered requires --account.';

/** Rejects a time range that ends before it starts. */
function validateSpan({ since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY }: Span): string | false {
  return until <= since && '--until must be later than --since.';
}

interface Span {
  readonly since?: number;
  readonly until?: number;
}
