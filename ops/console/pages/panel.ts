import { EVENT_NAMES } from '../../../lambdas/webhooks/webhook.ts';
import { healthBadge, healthOf, healthReason, healthTime } from '../health.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import { type Answer, type Context, card, link, oneLine, pathOf, table, timeOf } from '../page.ts';
import { resultOf } from '../page-parts.ts';
import type { AccountView, DeliveryRow, WebhookView } from '../views.ts';
import { wayToFirstSteps } from './first-steps.ts';

/** The first page: the account's webhooks, and the events that have none. */
export async function panelPage(context: Context): Promise<Answer> {
  const { source, texts, say } = context;
  const { webhooks, withoutWebhook } = await source.readAccount();
  const latest = await latestResults(context, webhooks);
  const registered = new Set(webhooks.map(({ event }) => event));
  const free = eventsWithout(registered, withoutWebhook);
  const cards = [
    webhooks.length > 0 && card(texts.webhooks, webhookTable(context, webhooks, latest), { id: 'webhooks' }),
    card(say('Events without a webhook', 'Eventos sem webhook'), freeList(context, free), {
      id: 'without',
      beside: html`<p>${say('What comes for them is dropped. The last time is true to the hour.', 'O que chega para eles é descartado. A última vez tem precisão de uma hora.')}</p>`,
    }),
  ];
  return {
    title: texts.webhooks,
    content: html`<h1>${texts.webhooks}</h1><p class="lead">${texts.account} <code>${source.account}</code></p>${wayToFirstSteps(context, webhooks)}
${withoutWebhook.length > 0 ? cards.toReversed() : cards}`, // what is lost stands first
  };
}

/** The newest delivery of each webhook by its event; `undefined` if it could not be read, `null` if there is none. */
type LatestResults = ReadonlyMap<string, DeliveryRow | null | undefined>;

/** Reads what became of the newest delivery of each webhook, a call each. What cannot be read takes no page down. */
async function latestResults({ source }: Context, webhooks: readonly WebhookView[]): Promise<LatestResults> {
  const reading = webhooks.map(async ({ event }) => {
    const page = await source.listDeliveries({ event, limit: 1 }).catch(() => undefined);
    return [event, page && (page.deliveries[0] ?? null)] as const;
  });
  return new Map(await Promise.all(reading));
}

function webhookTable(context: Context, webhooks: readonly WebhookView[], latest: LatestResults): Html {
  const { texts, say } = context;
  return table(
    [
      { heading: texts.event, value: webhook => link(context, pathOf(webhook), webhook.event), isBrief: true },
      { heading: texts.state, value: webhook => healthBadge(context, webhook), isBrief: true },
      {
        heading: texts.since,
        value: webhook => html`${healthTime(context, webhook)} <small>${reasonOf(context, webhook)}</small>`,
      },
      {
        heading: say('Newest delivery', 'Entrega mais nova'),
        value: ({ event }) => latestOf(context, latest.get(event)),
      },
      { heading: texts.address, value: ({ url }) => oneLine(context, url) },
    ],
    webhooks,
    '',
  );
}

function latestOf(context: Context, delivery: DeliveryRow | null | undefined): HtmlValue {
  if (delivery === undefined) return context.say('could not be read', 'não pôde ser lida');
  if (delivery === null) return context.say('none yet', 'nenhuma ainda');
  const said = delivery.lastResult ? resultOf(context, delivery) : context.say('no attempt yet', 'nenhuma tentativa');
  return html`${link(context, pathOf(delivery), said)} ${timeOf(delivery.createdAt, context)}`;
}

/** Writes why a webhook is suspended, with the way to what it holds. */
function reasonOf(context: Context, webhook: WebhookView): HtmlValue {
  if (healthOf(webhook).word !== 'suspended') return healthReason(context, webhook);
  const held = link(context, `${pathOf(webhook)}?state=retida`, context.say('what it holds', 'o que ele retém'));
  return html`${healthReason(context, webhook)} · ${held}`;
}

interface FreeEvent {
  readonly event: string;
  /** When it last came and was dropped, true to the hour; `undefined` if it did not come for 30 days. */
  readonly lastAt: string | undefined;
}

/** Returns the events that have no webhook: those that came first, the latest of them at the top. */
function eventsWithout(registered: ReadonlySet<string>, came: AccountView['withoutWebhook']): readonly FreeEvent[] {
  const latest = came.toSorted((one, other) => other.lastAt.localeCompare(one.lastAt));
  const others = EVENT_NAMES.filter(event => !registered.has(event) && !came.some(one => one.event === event));
  return [...latest, ...others.map(event => ({ event, lastAt: undefined }))];
}

function freeList(context: Context, free: readonly FreeEvent[]): Html {
  const { source, say, folder } = context;
  if (free.length === 0)
    return html`<p class="empty">${say('Every event has a webhook.', 'Todo evento tem um webhook.')}</p>`;
  return html`<ul class="free">${free.map(
    ({ event, lastAt }) =>
      html`<li><b>${event}</b>${lastAt !== undefined && html`<span>${say('last came', 'chegou pela última vez')} ${timeOf(lastAt, context)}</span>`}
${source.mayChange && html`<a class="button${lastAt !== undefined && ' main'}" href="${folder}/webhooks/new?event=${encodeURIComponent(event)}">${say('Register', 'Cadastrar')}<span class="unseen"> ${event}</span></a>`}</li>`,
  )}</ul>`;
}
