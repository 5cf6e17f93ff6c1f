import { EVENT_NAMES } from '../../../lambdas/webhooks/webhook.ts';
import { type Html, html } from '../html.ts';
import { type Answer, type Context, card, pathOf, timeOf } from '../page.ts';
import type { AccountView } from '../views.ts';
import { latestResults, webhookTable } from './account.ts';
import { wayToFirstSteps } from './first-steps.ts';

/** The first page of an integrator: the account's webhooks, and the events that have none. */
export async function panelPage(context: Context): Promise<Answer> {
  const { source, texts, say } = context;
  const { account = '' } = source;
  const { webhooks, withoutWebhook } = (await source.readAccount?.()) ?? {
    webhooks: await source.listWebhooks(account),
    withoutWebhook: [],
  };
  const latest = await latestResults(context, webhooks);
  const registered = new Set(webhooks.map(({ event }) => event));
  const free = eventsWithout(registered, withoutWebhook);
  const cards = [
    webhooks.length > 0 && card(texts.webhooks, webhookTable(context, webhooks, latest), { id: 'webhooks' }),
    card(say('Events without a webhook', 'Eventos sem webhook'), freeList(context, account, free), {
      id: 'without',
      beside: html`<p>${say('What comes for them is dropped. The last time is true to the hour.', 'O que chega para eles é descartado. A última vez tem precisão de uma hora.')}</p>`,
    }),
  ];
  return {
    title: texts.webhooks,
    content: html`<h1>${texts.webhooks}</h1><p class="lead">${texts.account} <code>${account}</code></p>${await wayToFirstSteps(context, webhooks)}
${withoutWebhook.length > 0 ? cards.toReversed() : cards}`, // what is lost stands first
  };
}

interface FreeEvent {
  readonly event: string;
  /** When it last came and was dropped, true to the hour; `undefined` where it did not come for 30 days. */
  readonly lastAt: string | undefined;
}

/** Returns the events that have no webhook: those that came first, the latest of them at the top. */
function eventsWithout(registered: ReadonlySet<string>, came: AccountView['withoutWebhook']): readonly FreeEvent[] {
  const latest = came.toSorted((one, other) => other.lastAt.localeCompare(one.lastAt));
  const others = EVENT_NAMES.filter(event => !registered.has(event) && !came.some(one => one.event === event));
  return [...latest, ...others.map(event => ({ event, lastAt: undefined }))];
}

function freeList(context: Context, account: string, free: readonly FreeEvent[]): Html {
  const { source, say, folder } = context;
  const mayRegister = source.register && source.mayChange;
  if (free.length === 0)
    return html`<p class="empty">${say('Every event has a webhook.', 'Todo evento tem um webhook.')}</p>`;
  return html`<ul class="free">${free.map(
    ({ event, lastAt }) =>
      html`<li><b>${event}</b>${lastAt !== undefined && html`<span>${say('last came', 'chegou pela última vez')} ${timeOf(lastAt, context)}</span>`}
${mayRegister && html`<a class="button${lastAt !== undefined && ' main'}" href="${folder}${pathOf({ account })}/webhooks/new?event=${encodeURIComponent(event)}">${say('Register', 'Cadastrar')}<span class="unseen"> ${event}</span></a>`}</li>`,
  )}</ul>`;
}
