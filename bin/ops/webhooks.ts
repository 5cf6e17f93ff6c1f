import { type Command, Option } from 'commander';
import type { OperatorStore } from '../../lambdas/webhooks/operator-store.ts';
import type { EventName, Webhook } from '../../lambdas/webhooks/webhook.ts';
import { Fault } from './fault.ts';
import { accountId, eventName } from './option-values.ts';
import { fields, iso, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import type { Target } from './target.ts';

const openStore = async (target: Target): Promise<OperatorStore> =>
  (await import('./documents.ts')).openWebhooks(target);

/** What is shown of a webhook: no secret, sealed or not, and of its URL no more than where it leads. */
const view = (webhook: Webhook) => ({
  accountId: webhook.accountId,
  evento: webhook.evento,
  webhookId: webhook.webhookId,
  host: URL.parse(webhook.url)?.host ?? null,
  status: webhook.status,
  suspensionReason: webhook.suspensionReason,
  failingSince: iso(webhook.failingSince),
  createdAt: iso(webhook.createdAt),
  updatedAt: iso(webhook.updatedAt),
});

interface ListOptions {
  readonly account?: string;
  readonly status?: Webhook['status'];
}

const list = async (target: Target, { account, status }: ListOptions): Promise<Report> => {
  const [store, { readSlowSince }] = await Promise.all([openStore(target), import('./slowness.ts')]);
  const all = await store.listAll();
  const wanted = all
    .filter(webhook => account === undefined || webhook.accountId === account)
    .filter(webhook => status === undefined || webhook.status === status);
  const slowSince = await readSlowSince(target, wanted);
  const webhooks = wanted.map((webhook, at) => ({ ...view(webhook), slowSince: slowSince[at] ?? null }));
  type Row = (typeof webhooks)[number];
  const columns = [
    { heading: 'ACCOUNT', cell: (row: Row) => row.accountId },
    { heading: 'EVENT', cell: (row: Row) => row.evento },
    { heading: 'HOST', cell: (row: Row) => row.host ?? '-' },
    { heading: 'STATUS', cell: (row: Row) => row.status },
    { heading: 'REASON', cell: (row: Row) => row.suspensionReason ?? '-' },
    { heading: 'FAILING SINCE', cell: (row: Row) => row.failingSince ?? '-' },
    { heading: 'SLOW SINCE', cell: (row: Row) => row.slowSince ?? '-' },
  ];
  return { json: webhooks, text: table(webhooks, columns, 'No such webhooks.') };
};

interface WebhookOptions {
  readonly account: string;
  readonly event: EventName;
}

const noWebhook = ({ account, event }: WebhookOptions) =>
  new Fault(`account "${account}" has no webhook for ${event}: "webhooks list" shows them.`);

const suspend = async (target: Target, options: WebhookOptions): Promise<Report> => {
  const webhook = await (await openStore(target)).suspend(options.account, options.event);
  if (!webhook) throw noWebhook(options);
  const text = `The webhook of ${options.account} for ${options.event} is suspended: its events are held.`;
  return { json: view(webhook), text };
};

const show = async (target: Target, options: WebhookOptions): Promise<Report> => {
  const [{ openDeliveries }, { readSlowSince }] = await Promise.all([
    import('./documents.ts'),
    import('./slowness.ts'),
  ]);
  const webhook = await openDeliveries(target).findWebhook(options.account, options.event);
  if (!webhook) throw noWebhook(options);
  const [slowSince = null] = await readSlowSince(target, [webhook]);
  const shown = {
    ...view(webhook),
    slowSince,
    hasAuthorization: webhook.sealedAuthorization !== undefined,
    secrets: webhook.secrets.map(({ createdAt, replacedAt }) => ({
      createdAt: iso(createdAt),
      replacedAt: iso(replacedAt),
    })),
  };
  const text = fields([
    ['account', shown.accountId],
    ['event', shown.evento],
    ['webhook id', shown.webhookId],
    ['host', shown.host ?? '-'],
    ['status', shown.suspensionReason === null ? shown.status : `${shown.status} (${shown.suspensionReason})`],
    ['failing since', shown.failingSince ?? '-'],
    ['slow since', shown.slowSince ?? '-'],
    ['autorizacao', shown.hasAuthorization ? 'is sent' : 'none'],
    ['signing secrets', shown.secrets.map(({ createdAt }) => `of ${createdAt}`).join(', ')],
    ['created', shown.createdAt ?? '-'],
    ['updated', shown.updatedAt ?? '-'],
  ]);
  return { json: shown, text };
};

const reactivate = async (target: Target, options: WebhookOptions): Promise<Report> => {
  const webhook = await (await openStore(target)).reactivate(options.account, options.event);
  if (!webhook) throw noWebhook(options);
  const lines = [
    `The webhook of ${options.account} for ${options.event} is active. Deliveries held meanwhile (retida) stay so until sent:`,
    `  one by one   npm run ops -- deliveries list --account ${options.account} --event ${options.event} --state retida`,
    '               npm run ops -- deliveries resend ID',
    `  a range      npm run ops -- deliveries replay --account ${options.account} --event ${options.event} --state retida --since 7d`,
    `  or its account does: POST /v1/webhooks/${options.event}/reenvios {"desde": …, "ate": …, "estado": "retida"}`,
  ];
  return { json: view(webhook), text: lines.join('\n') };
};

const examples = `
Examples:
  npm run ops -- webhooks list --status suspenso
  npm run ops -- webhooks show --account acme --event demanda.criada
  npm run ops -- --stage prod webhooks suspend --account acme --event demanda.criada
  npm run ops -- --stage prod webhooks reactivate --account acme --event demanda.criada`;

/** Adds `webhooks`. */
export const addWebhooks = (program: Command, run: Run): void => {
  const webhooks = program
    .command('webhooks')
    .description('webhooks of all accounts: list, show, suspend, reactivate')
    .addHelpText('after', examples);

  webhooks
    .command('list')
    .description('list webhooks, with why they are suspended')
    .option('--account <id>', 'those of this account only', accountId)
    .addOption(new Option('--status <status>', 'those of this status only').choices(['ativo', 'suspenso']))
    .action((options: ListOptions, command: Command) => run(command, target => list(target, options)));

  for (const [name, description, act] of [
    ['show', 'show one webhook: where it leads, its state and health; nothing secret', show],
    ['suspend', 'hold the events of a webhook; its account cannot end that', suspend],
    ['reactivate', 'end the suspension of a webhook, whatever its reason', reactivate],
  ] as const) {
    webhooks
      .command(name)
      .description(description)
      .requiredOption('--account <id>', 'the account', accountId)
      .requiredOption('--event <name>', 'the event that the webhook is for', eventName)
      .action((options: WebhookOptions, command: Command) => run(command, target => act(target, options)));
  }
};
