import { type Command, Option } from 'commander';
import type { Hold, OperatorStore } from '../../lambdas/webhooks/operator-store.ts';
import { wireReasons, wireStatuses } from '../../lambdas/webhooks/representation.ts';
import type { EventName, Webhook } from '../../lambdas/webhooks/webhook.ts';
import { CliError } from './cli-error.ts';
import { accountId, eventNameSchema } from './option-values.ts';
import { fields, iso, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import type { Target } from './target.ts';

/** Adds `webhooks`. */
export function addWebhooks(program: Command, run: Run): void {
  const webhooks = program
    .command('webhooks')
    .description('webhooks of all accounts: list, show, suspend, reactivate')
    .addHelpText('after', examples);

  webhooks
    .command('list')
    .description('list webhooks, with why they are suspended')
    .option('--account <id>', 'those of this account only', accountId)
    .addOption(new Option('--status <status>', 'those of this status only').choices(Object.values(wireStatuses)))
    .action((options: ListOptions, command: Command) => run(command, target => list(target, options)));

  for (const [name, description, act] of [
    ['show', 'show one webhook: where it leads, its state and health; nothing secret', show],
    ['suspend', 'hold the events of a webhook, or of the next one; its account cannot end that', suspend],
    ['reactivate', 'end the suspension of a webhook, whatever its reason', reactivate],
  ] as const) {
    webhooks
      .command(name)
      .description(description)
      .requiredOption('--account <id>', 'the account', accountId)
      .requiredOption('--event <name>', 'the event that the webhook is for', eventNameSchema)
      .action((options: WebhookOptions, command: Command) => run(command, target => act(target, options)));
  }
}

const examples = `
Examples:
  npm run ops -- webhooks list --status suspenso
  npm run ops -- webhooks show --account acme --event demanda.criada
  npm run ops -- --stage prod webhooks suspend --account acme --event demanda.criada
  npm run ops -- --stage prod webhooks reactivate --account acme --event demanda.criada`;

interface ListOptions {
  readonly account?: string;
  readonly status?: (typeof wireStatuses)[Webhook['status']];
}

async function list(target: Target, { account, status }: ListOptions): Promise<Report> {
  const { openWebhooks, readSlowSince } = await import('./stores.ts');
  const store = openWebhooks(target);
  const wanted = (await store.listAll())
    .filter(found => account === undefined || found.accountId === account)
    .filter(found => status === undefined || viewOf(found).status === status);
  const slowSince = await readSlowSince(target, wanted);
  const webhooks = wanted.map((found, at) => ({ ...viewOf(found), slowSince: slowSince[at] ?? null }));
  type Row = (typeof webhooks)[number];
  const columns = [
    { heading: 'ACCOUNT', cell: (row: Row) => row.accountId ?? '-' },
    { heading: 'EVENT', cell: (row: Row) => row.evento ?? '-' },
    { heading: 'HOST', cell: (row: Row) => row.host ?? '(not registered)' },
    { heading: 'STATUS', cell: (row: Row) => row.status ?? '-' },
    { heading: 'REASON', cell: (row: Row) => row.suspensionReason ?? '-' },
    { heading: 'FAILING SINCE', cell: (row: Row) => row.failingSince ?? '-' },
    { heading: 'SLOW SINCE', cell: (row: Row) => row.slowSince ?? '-' },
  ];
  return { json: webhooks, text: table(webhooks, columns, 'No such webhooks.') };
}

async function show(target: Target, options: WebhookOptions): Promise<Report> {
  const { openWebhooks, readSlowSince } = await import('./stores.ts');
  const store = openWebhooks(target);
  const found = await store.find(options.account, options.event);
  if (!found) throw noWebhook(options);
  const [slowSince = null] = await readSlowSince(target, [found]);
  const registered = 'webhookId' in found ? found : undefined;
  const secrets = (registered?.secrets ?? []).map(({ createdAt, replacedAt }) => ({
    createdAt: iso(createdAt),
    replacedAt: iso(replacedAt),
  }));
  const shown = {
    ...viewOf(found),
    slowSince,
    hasAuthorization: registered?.sealedAuthorization !== undefined,
    secrets,
  };
  const text = fields([
    ['account', options.account],
    ['event', options.event],
    ['webhook id', shown.webhookId ?? 'none: the next one that is registered begins suspended'],
    ['host', shown.host ?? '-'],
    ['status', shown.suspensionReason === null ? (shown.status ?? '-') : `${shown.status} (${shown.suspensionReason})`],
    ['failing since', shown.failingSince ?? '-'],
    ['slow since', shown.slowSince ?? '-'],
    ['autorizacao', shown.hasAuthorization ? 'is sent' : 'none'],
    ['signing secrets', secrets.map(({ createdAt }) => `of ${createdAt}`).join(', ') || 'none'],
    ['created', shown.createdAt ?? '-'],
    ['updated', shown.updatedAt ?? '-'],
  ]);
  return { json: shown, text };
}

async function suspend(target: Target, options: WebhookOptions): Promise<Report> {
  const store = await openStore(target);
  const { outcome } = await store.suspend(options.account, options.event);
  const found = await store.find(options.account, options.event);
  const text =
    outcome === 'changed'
      ? `The webhook of ${options.account} for ${options.event} is suspended: its events are held. If its account deletes it, the next one begins suspended.`
      : `${options.account} has no webhook for ${options.event} just now: the next one that it registers begins suspended.`;
  return { json: found ? viewOf(found) : null, text };
}

async function reactivate(target: Target, options: WebhookOptions): Promise<Report> {
  const changed = await (await openStore(target)).reactivate(options.account, options.event);
  if (!changed) throw noWebhook(options);
  if (changed.outcome === 'not_registered') {
    const text = `The suspension is ended: the next webhook of ${options.account} for ${options.event} begins active.`;
    return { json: { accountId: options.account, evento: options.event, webhookId: null, status: null }, text };
  }
  const lines = [
    `The webhook of ${options.account} for ${options.event} is active. Deliveries held meanwhile (retida) stay so until sent:`,
    `  one by one   npm run ops -- deliveries list --account ${options.account} --event ${options.event} --state retida`,
    '               npm run ops -- deliveries resend ID',
    `  a range      npm run ops -- deliveries replay --account ${options.account} --event ${options.event} --state retida --since 7d`,
    `  or its account does: POST /v1/webhooks/${options.event}/reenvios {"desde": …, "ate": …, "estado": "retida"}`,
  ];
  return { json: viewOf(changed.webhook), text: lines.join('\n') };
}

interface WebhookOptions {
  readonly account: string;
  readonly event: EventName;
}

async function openStore(target: Target): Promise<OperatorStore> {
  return (await import('./stores.ts')).openWebhooks(target);
}

function viewOf(found: Webhook | Hold): View {
  return 'webhookId' in found ? viewOfWebhook(found) : viewOfHold(found);
}

type View = {
  readonly [Name in keyof ReturnType<typeof viewOfWebhook>]: ReturnType<typeof viewOfWebhook>[Name] | null;
};

/** What is shown of a webhook: no secret, sealed or not, and of its URL no more than where it leads. */
function viewOfWebhook(webhook: Webhook) {
  return {
    accountId: webhook.accountId,
    evento: webhook.eventName,
    webhookId: webhook.webhookId,
    host: URL.parse(webhook.url)?.host ?? null,
    status: wireStatuses[webhook.status],
    suspensionReason: webhook.suspensionReason && wireReasons[webhook.suspensionReason],
    failingSince: iso(webhook.failingSince),
    createdAt: iso(webhook.createdAt),
    updatedAt: iso(webhook.updatedAt),
  };
}

/** An operator's suspension without a webhook is shown as a webhook would be that had nothing but that. */
function viewOfHold({ accountId, eventName, since }: Hold): View {
  return {
    accountId,
    evento: eventName,
    webhookId: null,
    host: null,
    status: 'suspenso',
    suspensionReason: 'operador',
    failingSince: null,
    createdAt: null,
    updatedAt: iso(since),
  };
}

function noWebhook({ account, event }: WebhookOptions) {
  return new CliError(`account "${account}" has no webhook for ${event}: "webhooks list" shows them.`);
}
