import { type Command, Option } from 'commander';
import type { AttemptRecord, Delivery, DeliveryState } from '../../lambdas/delivery/delivery.ts';
import type { ResendRefusal } from '../../lambdas/delivery/resend.ts';
import { systemClock } from '../../lambdas/platform/clock.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import { Fault } from './fault.ts';
import { accountId, eventName, notEmpty, wholeNumber } from './option-values.ts';
import { fields, iso, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import type { Target } from './target.ts';

const states: readonly DeliveryState[] = ['pendente', 'entregue', 'falhou', 'retida', 'cancelada'];

/** What is shown of a delivery; its body, which names a customer's business, is for the webhook's owner. */
const view = (delivery: Delivery) => ({
  id: delivery.id,
  accountId: delivery.accountId,
  evento: delivery.evento,
  webhookId: delivery.webhookId,
  state: delivery.state,
  createdAt: iso(delivery.createdAt),
  nextAttemptAt: iso(delivery.wait?.nextAttemptAt),
  settledAt: iso(delivery.settledAt),
  attempts: delivery.attempts,
});

const attemptColumns = [
  { heading: 'ATTEMPT', cell: (attempt: AttemptRecord) => String(attempt.numero) },
  { heading: 'BEGUN', cell: (attempt: AttemptRecord) => attempt.iniciada_em },
  { heading: 'TOOK', cell: (attempt: AttemptRecord) => `${attempt.duracao_ms} ms` },
  { heading: 'RESULT', cell: (attempt: AttemptRecord) => attempt.resultado },
  { heading: 'STATUS', cell: (attempt: AttemptRecord) => String(attempt.status ?? '-') },
];

const noDelivery = (id: string): Fault =>
  new Fault(`there is no delivery "${id}": its event had no webhook, was not taken up yet, or is past its time.`);

const show = async (target: Target, id: string): Promise<Report> => {
  const { openDeliveries } = await import('./documents.ts');
  const [delivery] = await openDeliveries(target).read([id]);
  if (!delivery) throw noDelivery(id);
  const shown = view(delivery);
  const lines = fields([
    ['delivery', shown.id],
    ['event', shown.evento],
    ['account', shown.accountId],
    ['state', shown.state],
    ['accepted', shown.createdAt ?? '-'],
    ['next attempt', shown.nextAttemptAt ?? '-'],
    ['settled', shown.settledAt ?? '-'],
  ]);
  return { json: shown, text: `${lines}\n\n${table(delivery.attempts, attemptColumns, 'No attempt yet.')}` };
};

interface ListOptions {
  readonly account: string;
  readonly event: EventName;
  readonly state?: DeliveryState;
  readonly limit: number;
}

/** What one page of the history may hold. */
const longestPage = 100;

const list = async (target: Target, { account, event, state, limit }: ListOptions): Promise<Report> => {
  const { openDeliveries } = await import('./documents.ts');
  const { history } = openDeliveries(target);
  const found: Delivery[] = [];
  let after: string | undefined;
  do {
    const page = await history({ accountId: account, evento: event, state, limit: longestPage, after });
    found.push(...page.deliveries);
    after = page.next;
  } while (after !== undefined && found.length < limit);
  const shown = found.slice(0, limit);
  const columns = [
    { heading: 'DELIVERY', cell: ({ id }: Delivery) => id },
    { heading: 'STATE', cell: (delivery: Delivery) => delivery.state },
    { heading: 'ACCEPTED', cell: ({ createdAt }: Delivery) => iso(createdAt) ?? '-' },
    { heading: 'ATTEMPTS', cell: ({ attempt }: Delivery) => String(attempt - 1) },
    { heading: 'LAST RESULT', cell: ({ attempts }: Delivery) => attempts.at(-1)?.resultado ?? '-' },
    { heading: 'NEXT ATTEMPT', cell: ({ wait }: Delivery) => iso(wait?.nextAttemptAt) ?? '-' },
  ];
  return { json: shown.map(view), text: table(shown, columns, 'No such deliveries.') };
};

const refusals: Record<ResendRefusal, string> = {
  webhook_suspended: 'its webhook is suspended. "webhooks reactivate" ends that.',
  webhook_replaced: 'the webhook it was for was deleted, and another one is registered.',
  test_delivery: 'it is a test: tests are not sent again.',
};

const resend = async (target: Target, id: string): Promise<Report> => {
  const [{ openDeliveries }, { openRetryQueue }, { makeResend, resendRefusal }] = await Promise.all([
    import('./documents.ts'),
    import('./queues.ts'),
    import('../../lambdas/delivery/resend.ts'),
  ]);
  const { read, update, findWebhook } = openDeliveries(target);
  const [delivery] = await read([id]);
  if (!delivery) throw noDelivery(id);
  const webhook = await findWebhook(delivery.accountId, delivery.evento);
  if (!webhook) throw new Fault(`delivery "${id}" cannot be sent: the webhook it was for is deleted.`);
  const refusal = resendRefusal(delivery, webhook);
  if (refusal) throw new Fault(`delivery "${id}" cannot be sent: ${refusals[refusal]}`);
  const resendOne = makeResend({
    store: { update },
    retryQueue: openRetryQueue(target),
    now: systemClock,
    log: { info: () => {}, warn: () => {}, error: message => console.error(String(message)) },
    count: () => {},
  });
  await resendOne(delivery);
  const next = delivery.state === 'pendente' ? 'has its next attempt now' : 'begins a new schedule now';
  return { json: { id, resent: true }, text: `Delivery ${id} ${next}.` };
};

const examples = `
A delivery is named by its webhook-id header, which "publish" shows too.

Examples:
  npm run ops -- deliveries list --account acme --event demanda.criada --state falhou
  npm run ops -- deliveries show evt_2Qm0pXkD1nVb8sYfTzR4uWcJe7H
  npm run ops -- deliveries resend evt_2Qm0pXkD1nVb8sYfTzR4uWcJe7H`;

/** Adds `deliveries`. */
export const addDeliveries = (program: Command, run: Run): void => {
  const deliveries = program
    .command('deliveries')
    .description('what became of events: list, show, resend')
    .addHelpText('after', examples);

  deliveries
    .command('list')
    .description("list the deliveries of an account's webhook, newest first")
    .requiredOption('--account <id>', 'the account', accountId)
    .requiredOption('--event <name>', 'the event that the webhook is for', eventName)
    .addOption(new Option('--state <state>', 'those in this state only').choices(states))
    .option('--limit <n>', 'at most so many', wholeNumber(1, 100_000), 100)
    .action((options: ListOptions, command: Command) => run(command, target => list(target, options)));

  for (const [name, description, act] of [
    ['show', 'show the state of a delivery and its attempts', show],
    ['resend', 'send a delivery now: on a new schedule, or ahead of its next attempt', resend],
  ] as const) {
    deliveries
      .command(name)
      .description(description)
      .argument('<id>', 'as list shows it; its webhook-id header', notEmpty)
      .action((id: string, _options: object, command: Command) => run(command, target => act(target, id)));
  }
};
