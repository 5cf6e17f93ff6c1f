import { type Command, Option } from 'commander';
import type { Hold } from '../../lambdas/webhooks/operator-store.ts';
import { wireReasons, wireStatuses } from '../../lambdas/webhooks/representation.ts';
import type { Webhook } from '../../lambdas/webhooks/webhook.ts';
import { accountId, eventName } from './option-values.ts';
import { fields, iso, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import type { FoundWebhook, ListOptions, Reactivated, Registration, Suspended } from './webhook-actions.ts';

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
    .action((options: ListOptions, command: Command) =>
      run(command, async target => (await actions()).listWebhooks(target, options), reportWebhooks),
    );

  registrationOptions(
    webhooks.command('show').description('show one webhook: where it leads, its state and health; nothing secret'),
  ).action((options: Registration, command: Command) =>
    run(command, async target => (await actions()).showWebhook(target, options), reportWebhook),
  );

  registrationOptions(
    webhooks
      .command('suspend')
      .description('hold the events of a webhook, or of the next one; its account cannot end that'),
  ).action((options: Registration, command: Command) =>
    run(command, async target => (await actions()).suspendWebhook(target, options), reportSuspension),
  );

  registrationOptions(
    webhooks.command('reactivate').description('end the suspension of a webhook, whatever its reason'),
  ).action((options: Registration, command: Command) =>
    run(command, async target => (await actions()).reactivateWebhook(target, options), reportReactivation),
  );
}

const examples = `
Examples:
  npm run ops -- webhooks list --status suspenso
  npm run ops -- webhooks show --account acme --event demanda.criada
  npm run ops -- --stage prod webhooks suspend --account acme --event demanda.criada
  npm run ops -- --stage prod webhooks reactivate --account acme --event demanda.criada`;

function registrationOptions(command: Command): Command {
  return command
    .requiredOption('--account <id>', 'the account', accountId)
    .requiredOption('--event <name>', 'the event that the webhook is for', eventName);
}

function actions() {
  return import('./webhook-actions.ts');
}

function reportWebhooks(found: readonly FoundWebhook[]): Report {
  const webhooks = found.map(({ found, slowSince }) => ({ ...viewOf(found), slowSince }));
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

function reportWebhook({ found, slowSince }: FoundWebhook): Report {
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
    ['account', found.accountId],
    ['event', found.eventName],
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

function reportSuspension({ account, event, isRegistered, found }: Suspended): Report {
  const text = isRegistered
    ? `The webhook of ${account} for ${event} is suspended: its events are held. If its account deletes it, the next one begins suspended.`
    : `${account} has no webhook for ${event} just now: the next one that it registers begins suspended.`;
  return { json: found ? viewOf(found) : null, text };
}

function reportReactivation({ account, event, webhook }: Reactivated): Report {
  if (!webhook) {
    const text = `The suspension is ended: the next webhook of ${account} for ${event} begins active.`;
    return { json: { accountId: account, evento: event, webhookId: null, status: null }, text };
  }
  const lines = [
    `The webhook of ${account} for ${event} is active. Deliveries held meanwhile (retida) stay so until sent:`,
    `  one by one   npm run ops -- deliveries list --account ${account} --event ${event} --state retida`,
    '               npm run ops -- deliveries resend ID',
    `  a range      npm run ops -- deliveries replay --account ${account} --event ${event} --state retida --since 7d`,
    `  or its account does: POST /v1/webhooks/${event}/reenvios {"desde": …, "ate": …, "estado": "retida"}`,
  ];
  return { json: viewOf(webhook), text: lines.join('\n') };
}

function viewOf(found: Webhook | Hold): View {
  return 'webhookId' in found ? viewOfWebhook(found) : viewOfHold(found);
}

type View = {
  readonly [Name in keyof ReturnType<typeof viewOfWebhook>]: ReturnType<typeof viewOfWebhook>[Name] | null;
};

/** The JSON of a webhook, without secrets: of its URL it shows the host only. */
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

/** The JSON of an operator's suspension without a webhook: a webhook that has nothing else. */
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
