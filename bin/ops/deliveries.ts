import { type Command, Option } from 'commander';
import type { Delivery } from '../../lambdas/delivery/delivery.ts';
import {
  stateFromWire,
  type WireState,
  wireReplayStates,
  wireResults,
  wireStates,
} from '../../lambdas/delivery/representation.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import type { Resent, UndeliveredCount } from './delivery-actions.ts';
import { deliveryText, deliveryView } from './delivery-view.ts';
import { accountId, deliveryId, eventName, momentBefore, wholeNumber } from './option-values.ts';
import type { Replayed } from './replay-deliveries.ts';
import { iso, type Report, table } from './report.ts';
import type { Run } from './run.ts';

/** Adds `deliveries`. */
export function addDeliveries(program: Command, run: Run): void {
  const deliveries = program
    .command('deliveries')
    .description('what became of events: list, show, resend, replay')
    .addHelpText('after', examples);

  deliveries
    .command('list')
    .description(
      "list the deliveries of an account's webhook, newest first; without --account or --event: count undelivered deliveries",
    )
    .option('--account <id>', 'the account', accountId)
    .option('--event <name>', 'the event that the webhook is for', eventName)
    .addOption(new Option('--state <state>', 'those in this state only').choices(states))
    .option('--limit <n>', 'at most so many deliveries or counts', wholeNumber(1, 100_000), 100)
    .addHelpText('after', listNotes)
    .action(async (options: ListOptions, command: Command) => {
      const { account, event, limit } = options;
      const state = options.state && stateFromWire(options.state);
      if (account !== undefined && event !== undefined) {
        const query = { account, event, state, limit };
        return run(
          command,
          async (target, progress) => (await actions()).listDeliveries(target, query, progress),
          reportDeliveries,
        );
      }
      if (state === 'delivered') return command.error('error: --state entregue needs --account and --event.');
      return run(
        command,
        async (target, progress) =>
          (await actions()).countUndelivered(target, { account, event, state, limit }, progress),
        reportCounts,
      );
    });

  deliveries
    .command('show')
    .description('show the state of a delivery and its attempts')
    .argument(...deliveryArgument)
    .action((id: string, _options: object, command: Command) =>
      run(command, async target => (await actions()).showDelivery(target, id), reportDelivery),
    );

  deliveries
    .command('resend')
    .description('send a delivery now: on a new schedule, or ahead of its next attempt')
    .argument(...deliveryArgument)
    .action((id: string, _options: object, command: Command) =>
      run(command, async target => (await actions()).resendDelivery(target, id), reportResent),
    );

  deliveries
    .command('replay')
    .description("send again what failed or was held of a webhook's deliveries, by when their events were accepted")
    .requiredOption('--account <id>', 'the account', accountId)
    .requiredOption('--event <name>', 'the event that the webhook is for', eventName)
    .addOption(
      new Option('--state <state>', 'those in this state').choices(Object.keys(replayedStates)).makeOptionMandatory(),
    )
    .requiredOption(
      '--since <time>',
      'accepted from then on: 2026-11-21T09:30:00Z, or how long ago: 90m, 2h, 7d',
      momentBefore(),
    )
    .option('--until <time>', 'accepted before that (default: now)', momentBefore())
    .addHelpText('after', replayNotes)
    .action(async ({ account, event, state, since: from, until: to = Date.now() }: ReplayOptions, command: Command) => {
      if (to <= from) command.error('error: --until must be later than --since.');
      const request = { account, event, wanted: replayedStates[state], from, to };
      await run(
        command,
        async (target, progress) => (await actions()).replay(target, request, progress),
        reportReplayed,
      );
    });
}

const examples = `
A delivery is named by its webhook-id header, which "publish" shows too.

Examples:
  npm run ops -- deliveries list --state falhou
  npm run ops -- deliveries list --account acme --event demanda.criada --state falhou
  npm run ops -- deliveries show evt_2Qm0pXkD1nVb8sYfTzR4uWcJe7H
  npm run ops -- deliveries resend evt_2Qm0pXkD1nVb8sYfTzR4uWcJe7H
  npm run ops -- deliveries replay --account acme --event demanda.criada --state retida --since 2d`;

const states = Object.values(wireStates);

const listNotes = `
With --account and --event it lists deliveries. Without one of them it counts those that are not delivered, by webhook and
state, most first: what waits (pendente), failed for good (falhou), is held (retida) or was cancelled (cancelada).

Examples:
  npm run ops -- deliveries list --state falhou
  npm run ops -- deliveries list --account acme
  npm run ops -- deliveries list --account acme --event demanda.criada --state falhou`;

interface ListOptions {
  readonly account?: string;
  readonly event?: EventName;
  readonly state?: WireState;
  readonly limit: number;
}

const deliveryArgument = ['<id>', 'as list shows it; its webhook-id header', deliveryId] as const;

const replayNotes = `
Deliveries of the webhook that is registered now begin new schedules through the retry lane, ten a second, newest first. A
replay skips a delivery whose state has changed, tests, and deliveries of earlier registrations. One replay of a webhook at a
time. The command shows how far it is and waits for its end; the service goes on without it.

Examples:
  npm run ops -- deliveries replay --account acme --event demanda.criada --state falhou --since 6h
  npm run ops -- deliveries replay --account acme --event demanda.criada --state retida \\
    --since 2026-11-20T08:00:00-03:00 --until 2026-11-20T18:00:00-03:00`;

/** The states that a replay may send again. */
const replayedStates = { [wireStates.failed]: 'failed', [wireStates.held]: 'held' } as const;

interface ReplayOptions {
  readonly account: string;
  readonly event: EventName;
  readonly state: keyof typeof replayedStates;
  readonly since: number;
  readonly until?: number;
}

function actions() {
  return import('./delivery-actions.ts');
}

function reportDeliveries(shown: readonly Delivery[]): Report {
  const columns = [
    { heading: 'DELIVERY', cell: ({ id }: Delivery) => id },
    { heading: 'STATE', cell: ({ state }: Delivery) => wireStates[state] },
    { heading: 'ACCEPTED', cell: ({ createdAt }: Delivery) => iso(createdAt) ?? '-' },
    { heading: 'ATTEMPTS', cell: ({ attempt }: Delivery) => String(attempt - 1) },
    { heading: 'LAST RESULT', cell: ({ attempts }: Delivery) => lastResultOf(attempts) },
    { heading: 'NEXT ATTEMPT', cell: ({ wait }: Delivery) => iso(wait?.nextAttemptAt) ?? '-' },
  ];
  return { json: shown.map(deliveryView), text: table(shown, columns, 'No such deliveries.') };
}

function lastResultOf(attempts: Delivery['attempts']): string {
  const latest = attempts.at(-1);
  return latest ? wireResults[latest.result] : '-';
}

function reportCounts(counts: readonly UndeliveredCount[]): Report {
  const columns = [
    { heading: 'ACCOUNT', cell: ({ accountId }: UndeliveredCount) => accountId },
    { heading: 'EVENT', cell: ({ eventName }: UndeliveredCount) => eventName },
    { heading: 'STATE', cell: ({ state }: UndeliveredCount) => wireStates[state] },
    { heading: 'DELIVERIES', cell: ({ count }: UndeliveredCount) => String(count) },
    { heading: 'NEWEST ACCEPTED', cell: ({ newestAcceptedAt }: UndeliveredCount) => newestAcceptedAt },
  ];
  const json = counts.map(({ eventName, state, ...rest }) => ({
    ...rest,
    evento: eventName,
    state: wireStates[state],
  }));
  return { json, text: table(counts, columns, 'No such deliveries.') };
}

function reportDelivery(delivery: Delivery): Report {
  return { json: deliveryView(delivery), text: deliveryText(delivery) };
}

function reportResent({ delivery: { id, state }, isQueued }: Resent): Report {
  const next = state === 'pending' ? 'has its next attempt now' : 'begins a new schedule now';
  const late = isQueued ? '' : ' But its queue did not take it: the sweeper sends it within a few minutes.';
  return { json: { id, resent: true }, text: `Delivery ${id} ${next}.${late}` };
}

function reportReplayed(done: Replayed): Report {
  const text = done.total === 0 ? 'There was nothing to replay.' : `Replayed ${done.sent} of ${done.total} deliveries.`;
  return { json: { ...done, state: wireReplayStates.completed }, text };
}
