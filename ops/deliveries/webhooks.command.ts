import * as z from 'zod';
import { wireReasons, wireStatuses } from '../../lambdas/webhooks/representation.ts';
import { command, type Noun } from '../audit/command.ts';
import { flag, option, required } from '../command-line/arg-spec.ts';
import { accountId, eventName } from '../command-line/forms.ts';
import { type Field, iso, makeFormatter } from '../command-line/report.ts';
import { CliError } from '../stage/operator.ts';
import { openUsers, openWebhooks, readSlowSince } from '../stage/stores.ts';
import type { Task } from '../stage/target.ts';
import { sendTest } from './send-test.ts';
import { withEnglishName } from './state-words.ts';
import { noWebhook, viewWebhook, type WebhookView } from './webhooks.ts';

const examples = `
Examples:
  npm run ops -- webhooks list --failing --suspended
  npm run ops -- webhooks show --account acme --event demanda.criada
  npm run ops -- --stage prod webhooks suspend --account acme --event demanda.criada
  npm run ops -- --stage prod webhooks reactivate --account acme --event demanda.criada
  npm run ops -- webhooks test --account acme --event demanda.criada`;

const listNotes = `
With --account, the command queries the webhooks of one account. Without --account, it reads the whole table.

Examples:
  npm run ops -- webhooks list --account acme
  npm run ops -- webhooks list --failing --slow --suspended`;

const ofWebhook = {
  account: required('<id>', 'the account', accountId),
  event: required('<name>', 'the event of the webhook', eventName),
};

const fields: readonly Field<WebhookView>[] = [
  { json: 'accountId', heading: 'account' },
  { json: 'evento', heading: 'event', value: ({ eventName }) => eventName },
  {
    json: 'webhookId',
    heading: 'webhook id',
    in: 'show',
    text: ({ webhookId }) => webhookId ?? 'none (the next webhook starts suspended)',
  },
  { json: 'host', heading: 'host', in: 'show' },
  { heading: 'host', in: 'list', value: ({ host }) => host ?? '(not registered)' },
  {
    json: 'status',
    heading: 'status',
    in: 'show',
    text: ({ status, suspensionReason: reason }) =>
      withEnglishName(wireStatuses, status) + (reason === null ? '' : `: ${withEnglishName(wireReasons, reason)}`),
  },
  { heading: 'status', in: 'list', value: ({ status }) => withEnglishName(wireStatuses, status) },
  {
    json: 'suspensionReason',
    heading: 'reason',
    in: 'list',
    text: ({ suspensionReason: reason }) => (reason === null ? '-' : withEnglishName(wireReasons, reason)),
  },
  { json: 'failingSince', heading: 'failing since', value: ({ failingSince }) => iso(failingSince) },
  { json: 'createdAt', value: ({ createdAt }) => iso(createdAt) },
  { json: 'updatedAt', value: ({ updatedAt }) => iso(updatedAt) },
];

const webhook = makeFormatter(fields);

const fieldsWithSlowness: typeof fields = [
  ...fields,
  { json: 'slowSince', heading: 'slow since', value: ({ slowSince }) => iso(slowSince) },
];

const wholeWebhook = makeFormatter<WebhookView>([
  ...fieldsWithSlowness,
  {
    json: 'hasAuthorization',
    heading: 'autorizacao',
    text: ({ hasAuthorization }) => (hasAuthorization ? 'set' : 'none'),
  },
  {
    json: 'secrets',
    heading: 'signing secrets',
    value: ({ secrets }) =>
      secrets.map(({ createdAt, replacedAt }) => ({ createdAt: iso(createdAt), replacedAt: iso(replacedAt) })),
    text: ({ secrets }) => secrets.map(({ createdAt }) => `created ${iso(createdAt)}`).join(', ') || 'none',
  },
  { heading: 'created', value: ({ createdAt }) => iso(createdAt) },
  { heading: 'updated', value: ({ updatedAt }) => iso(updatedAt) },
]);

const listWebhooks = command('webhooks list', {
  description: 'list webhooks, with suspension reasons and the start of failures or slowness',
  notes: listNotes,
  args: {
    account: option('<id>', 'only webhooks of this account', accountId),
    status: option('<status>', 'only webhooks with this status', z.enum(['active', 'suspended'])),
    failing: flag('only failing webhooks; can be combined with --slow and --suspended to include those'),
    slow: flag('only webhooks with attempts in the slow lane'),
    suspended: flag('only suspended webhooks, which hold their events'),
  },
  effect: 'reads',
  act: async ({ target, progress }, { account, status, failing, slow, suspended }) => {
    const store = openWebhooks(target);
    const found = await (account === undefined
      ? store.listAll(read => progress(`Read ${read} webhooks so far`))
      : store.listOf(account));
    const slowSince = await readSlowSince(target, found);
    const isUnhealthy = (view: WebhookView) =>
      (failing && view.failingSince !== undefined) ||
      (slow && view.slowSince !== undefined) ||
      (suspended && view.status === wireStatuses.suspended);
    return found
      .map((one, at) => viewWebhook(one, slowSince[at]))
      .filter(view => status === undefined || view.status === wireStatuses[status])
      .filter(view => !(failing || slow || suspended) || isUnhealthy(view));
  },
  report: makeFormatter(fieldsWithSlowness).list('No such webhooks.'),
});

const show = command('webhooks show', {
  description: 'show one webhook: its host, state and health, without secrets',
  args: ofWebhook,
  effect: 'reads',
  act: async ({ target }, registration) => {
    const found = await openWebhooks(target).find(registration.account, registration.event);
    if (!found) throw noWebhook(registration);
    const [slowSince] = await readSlowSince(target, [found]);
    return viewWebhook(found, slowSince);
  },
  report: wholeWebhook.show,
});

/** Suspends a webhook, or the next one to be registered. Rejects an account without webhooks and users as misspelt. */
export const suspendWebhook = command('webhooks suspend', {
  description: 'suspend a webhook, or the next one to be registered; its account cannot reactivate it',
  args: ofWebhook,
  effect: 'writes',
  act: async (task, { account, event }) => {
    const store = openWebhooks(task.target);
    const hasWebhook = (await store.listOf(account)).some(found => 'webhookId' in found);
    if (!hasWebhook && !(await hasUser(task, account))) {
      throw new CliError(
        `account "${account}" has no users and no webhooks. Check the id: "users list" and "webhooks list" show the accounts.`,
      );
    }
    const { outcome } = await store.suspend(account, event);
    const found = await store.find(account, event);
    return { isRegistered: outcome === 'changed', found: found && viewWebhook(found) };
  },
  subject: (_task, registration) => registration,
  report: ({ isRegistered, found }, { account, event }) => ({
    json: found ? webhook.json(found) : null,
    text: isRegistered
      ? `The webhook of ${account} for ${event} is suspended, and its events are held. If the account deletes the webhook, the next one starts suspended.`
      : `${account} has no webhook for ${event}. The next one that the account registers starts suspended.`,
  }),
});

/** Ends the suspension of a webhook, or of the next webhook to be registered. */
export const reactivateWebhook = command('webhooks reactivate', {
  description: 'reactivate a webhook that is suspended for any reason',
  args: ofWebhook,
  effect: 'writes',
  act: async ({ target }, registration) => {
    const changed = await openWebhooks(target).reactivate(registration.account, registration.event);
    if (!changed) throw noWebhook(registration);
    return changed.outcome === 'not_registered' ? undefined : viewWebhook(changed.webhook);
  },
  subject: (_task, registration) => registration,
  report: (found, { account, event }) => {
    if (!found) {
      const text = `The next webhook of ${account} for ${event} starts active.`;
      return { json: { accountId: account, evento: event, webhookId: null, status: null }, text };
    }
    const sentences = [
      `The webhook of ${account} for ${event} is active. Held deliveries stay held until they are resent:`,
      `  one by one   npm run ops -- deliveries list --account ${account} --event ${event} --state held`,
      '               npm run ops -- deliveries resend ID',
      `  a range      npm run ops -- deliveries replay --account ${account} --event ${event} --state held --since 7d`,
      `  or by its account: POST /v1/webhooks/${event}/reenvios {"desde": …, "ate": …, "estado": "retida"}`,
    ];
    return { json: webhook.json(found), text: sentences.join('\n') };
  },
});

const testWebhook = command('webhooks test', {
  description: 'send one attempt of a sample event, as the account itself can',
  args: ofWebhook,
  effect: 'writes',
  act: sendTest,
  subject: (_task, registration) => registration,
  report: id => ({
    json: { id },
    text: `Sent: ${id} (its webhook-id header). "deliveries show ${id}" shows the result.`,
  }),
});

export const webhooks: Noun = {
  name: 'webhooks',
  description: 'webhooks of all accounts: list, show, suspend, reactivate, test',
  notes: examples,
  commands: [listWebhooks, show, suspendWebhook, reactivateWebhook, testWebhook],
};

/** Returns whether an account has a user. The search may read all users. */
async function hasUser({ target, progress }: Task, account: string): Promise<boolean> {
  const onPage = (read: number) => progress(`Users read so far: ${read}`);
  return (await openUsers(target).listUsers({ account, limit: 1, onPage })).length > 0;
}
