import type { Command } from 'commander';
import type { AttemptRecord, Delivery } from '../../lambdas/delivery/delivery.ts';
import { Fault } from './fault.ts';
import { fields, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import type { Target } from './target.ts';

const iso = (moment: number | undefined): string | null =>
  moment === undefined ? null : new Date(moment).toISOString();

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

const show = async (target: Target, id: string): Promise<Report> => {
  const { openDeliveries } = await import('./documents.ts');
  const [delivery] = await openDeliveries(target).read([id]);
  if (!delivery) {
    throw new Fault(
      `there is no delivery "${id}": its event had no webhook, was not taken up yet, or is past its time.`,
    );
  }
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

const examples = `
A delivery is named by its webhook-id header, which "publish" shows too.

Examples:
  npm run ops -- deliveries show evt_2Qm0pXkD1nVb8sYfTzR4uWcJe7H`;

/** Adds `deliveries`. */
export const addDeliveries = (program: Command, run: Run): void => {
  const deliveries = program
    .command('deliveries')
    .description('what became of events: show')
    .addHelpText('after', examples);

  deliveries
    .command('show')
    .description('show the state of a delivery and its attempts')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) => run(command, target => show(target, id)));
};
