import { type Command, Option } from 'commander';
import { wireStatuses } from '../../lambdas/webhooks/representation.ts';
import { accountId, eventName } from '../command-line/option-values.ts';
import { type Field, iso, makeShape, type Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import type { Reactivated, Suspended, WebhookView } from './webhooks.ts';

/** Adds `webhooks`. */
export function addWebhooks(program: Command, run: Run): void {
  const webhooks = program
    .command('webhooks')
    .description('webhooks of all accounts: list, show, suspend, reactivate, test')
    .addHelpText('after', examples);

  webhooks
    .command('list')
    .description('list webhooks: why they are suspended, since when they fail, since when they are slow')
    .option('--account <id>', 'those of this account only', accountId)
    .addOption(new Option('--status <status>', 'those of this status only').choices(Object.values(wireStatuses)))
    .option('--failing', 'those that only failed of late; with --slow or --suspended, those too')
    .option('--slow', 'those whose attempts are made in the slow lane')
    .option('--suspended', 'those whose events are held')
    .addHelpText('after', listNotes)
    .action(run(actions, all => all.listWebhooks, listed));

  registrationOptions(
    webhooks.command('show').description('show one webhook: where it leads, its state and health; nothing secret'),
  ).action(run(actions, all => all.showWebhook, shown));

  registrationOptions(
    webhooks
      .command('suspend')
      .description('hold the events of a webhook, or of the next one; its account cannot end that'),
  ).action(run(actions, all => all.suspendWebhook, suspended));

  registrationOptions(
    webhooks.command('reactivate').description('end the suspension of a webhook, whatever its reason'),
  ).action(run(actions, all => all.reactivateWebhook, reactivated));

  registrationOptions(
    webhooks.command('test').description('send one attempt of a sample event, as the account itself can'),
  ).action(run(pageActions, all => all.sendTest, tested));
}

const pageActions = () => import('./delivery-pages.ts');

function tested(id: string): Report {
  return {
    json: { id },
    text: `On its way: ${id} (its webhook-id header). "deliveries show ${id}" tells what came of it.`,
  };
}

const examples = `
Examples:
  npm run ops -- webhooks list --failing --suspended
  npm run ops -- webhooks show --account acme --event demanda.criada
  npm run ops -- --stage prod webhooks suspend --account acme --event demanda.criada
  npm run ops -- --stage prod webhooks reactivate --account acme --event demanda.criada
  npm run ops -- webhooks test --account acme --event demanda.criada`;

const listNotes = `
With --account it reads that account's webhooks; without, the whole table.

Examples:
  npm run ops -- webhooks list --account acme
  npm run ops -- webhooks list --failing --slow --suspended`;

function registrationOptions(command: Command): Command {
  return command
    .requiredOption('--account <id>', 'the account', accountId)
    .requiredOption('--event <name>', 'the event that the webhook is for', eventName);
}

function actions() {
  return import('./webhooks.ts');
}

const fields: readonly Field<WebhookView>[] = [
  { json: 'accountId', heading: 'account', value: ({ accountId }) => accountId },
  { json: 'evento', heading: 'event', value: ({ eventName }) => eventName },
  {
    json: 'webhookId',
    heading: 'webhook id',
    in: 'show',
    value: ({ webhookId }) => webhookId,
    text: ({ webhookId }) => webhookId ?? 'none: the next one that is registered begins suspended',
  },
  { json: 'host', heading: 'host', in: 'show', value: ({ host }) => host },
  { heading: 'host', in: 'list', value: ({ host }) => host ?? '(not registered)' },
  {
    json: 'status',
    heading: 'status',
    in: 'show',
    value: ({ status }) => status,
    text: ({ status, suspensionReason: reason }) => (reason === null ? status : `${status} (${reason})`),
  },
  { heading: 'status', in: 'list', value: ({ status }) => status },
  { json: 'suspensionReason', heading: 'reason', in: 'list', value: ({ suspensionReason }) => suspensionReason },
  { json: 'failingSince', heading: 'failing since', value: ({ failingSince }) => iso(failingSince) },
  { json: 'createdAt', value: ({ createdAt }) => iso(createdAt) },
  { json: 'updatedAt', value: ({ updatedAt }) => iso(updatedAt) },
];

const webhook = makeShape(fields);

const fieldsWithSlowness: typeof fields = [
  ...fields,
  { json: 'slowSince', heading: 'slow since', value: ({ slowSince }) => iso(slowSince) },
];

const listed = makeShape(fieldsWithSlowness).list('No such webhooks.');

const { show: shown } = makeShape([
  ...fieldsWithSlowness,
  {
    json: 'hasAuthorization',
    heading: 'autorizacao',
    value: ({ hasAuthorization }) => hasAuthorization,
    text: ({ hasAuthorization }) => (hasAuthorization ? 'is sent' : 'none'),
  },
  {
    json: 'secrets',
    heading: 'signing secrets',
    value: ({ secrets }) =>
      secrets.map(({ createdAt, replacedAt }) => ({ createdAt: iso(createdAt), replacedAt: iso(replacedAt) })),
    text: ({ secrets }) => secrets.map(({ createdAt }) => `of ${iso(createdAt)}`).join(', ') || 'none',
  },
  { heading: 'created', value: ({ createdAt }) => iso(createdAt) },
  { heading: 'updated', value: ({ updatedAt }) => iso(updatedAt) },
] satisfies typeof fields);

function suspended({ account, event, isRegistered, webhook: found }: Suspended): Report {
  const text = isRegistered
    ? `The webhook of ${account} for ${event} is suspended: its events are held. If its account deletes it, the next one begins suspended.`
    : `${account} has no webhook for ${event} just now: the next one that it registers begins suspended.`;
  return { json: found ? webhook.json(found) : null, text };
}

function reactivated({ account, event, webhook: found }: Reactivated): Report {
  if (!found) {
    const text = `The suspension is ended: the next webhook of ${account} for ${event} begins active.`;
    return { json: { accountId: account, evento: event, webhookId: null, status: null }, text };
  }
  const sentences = [
    `The webhook of ${account} for ${event} is active. Deliveries held meanwhile (retida) stay so until sent:`,
    `  one by one   npm run ops -- deliveries list --account ${account} --event ${event} --state retida`,
    '               npm run ops -- deliveries resend ID',
    `  a range      npm run ops -- deliveries replay --account ${account} --event ${event} --state retida --since 7d`,
    `  or its account does: POST /v1/webhooks/${event}/reenvios {"desde": …, "ate": …, "estado": "retida"}`,
  ];
  return { json: webhook.json(found), text: sentences.join('\n') };
}
