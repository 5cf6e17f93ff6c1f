import { healthBadge, healthOf, healthReason, healthTime } from '../health.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import {
  type Answer,
  type Context,
  card,
  crumbs,
  link,
  oneLine,
  type Parameters,
  pathOf,
  table,
  timeOf,
} from '../page.ts';
import { resultOf } from '../page-parts.ts';
import type { DeliveryRow, WebhookView } from '../views.ts';

/** An account: its webhooks, and for an operator the way to the events that came for it. */
export async function accountPage(context: Context, { account = '' }: Parameters): Promise<Answer> {
  const { source, texts } = context;
  if (account === source.account) return { location: '/' }; // an integrator's account is the first page
  const webhooks = await source.listWebhooks(account);
  const latest = await latestResults(context, webhooks);
  return {
    title: `${texts.account} ${account}`,
    content: html`${accountHead(context, account, 'webhooks')}
${card(texts.webhooks, webhookTable(context, webhooks, latest), { id: 'webhooks' })}`,
  };
}

/** Writes the head of an account's pages: its name, and for an operator the way to the others. */
export function accountHead(context: Context, account: string, here: 'webhooks' | 'events'): Html {
  const { source, texts, folder } = context;
  const tab = (name: typeof here, path: string, label: string) =>
    html`<a href="${folder}${path}"${name === here && html` aria-current="page"`}>${label}</a>`;
  return html`${crumbs(context, [['/', texts.start]])}<h1>${texts.account} ${account}</h1>${
    source.operator &&
    html`<nav class="tabs" aria-label="${texts.account} ${account}">${tab('webhooks', pathOf({ account }), texts.webhooks)}${tab('events', `${pathOf({ account })}/events`, texts.events)}</nav>`
  }`;
}

/** The newest delivery of each webhook by its event; `undefined` where it could not be read, `null` where there is none. */
export type LatestResults = ReadonlyMap<string, DeliveryRow | null | undefined>;

/** Reads what became of the newest delivery of each webhook, a call each. What cannot be read takes no page down. */
export async function latestResults({ source }: Context, webhooks: readonly WebhookView[]): Promise<LatestResults> {
  const reading = webhooks.map(async ({ account, event }) => {
    const page = await source.listDeliveries({ account, event, limit: 1 }).catch(() => undefined);
    return [event, page && (page.deliveries[0] ?? null)] as const;
  });
  return new Map(await Promise.all(reading));
}

/** Writes webhooks, each in a line. */
export function webhookTable(context: Context, webhooks: readonly WebhookView[], latest: LatestResults): Html {
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
      { heading: texts.address, value: ({ address }) => (address ? oneLine(context, address) : '–') },
    ],
    webhooks,
    say(
      'No webhook has exactly this account: capitals count. Where the id is right, its admin registers one with POST /v1/webhooks; until then its events are counted and dropped.',
      'Nenhum webhook é exatamente desta conta: maiúsculas contam. Se o id está certo, o administrador cadastra um com POST /v1/webhooks; até lá os eventos são contados e descartados.',
    ),
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
