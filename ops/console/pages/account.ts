import { type Html, html } from '../html.ts';
import type { EventsView } from '../operator/events.ts';
import {
  type Answer,
  badge,
  type Context,
  card,
  crumbs,
  link,
  type Parameters,
  pathOf,
  table,
  timeOf,
} from '../page.ts';
import { operatorOf } from '../page-parts.ts';
import type { WebhookView } from '../views.ts';

/** An account: its webhooks, and for an operator the way to the events that came for it. */
export async function accountPage(context: Context, { account = '' }: Parameters): Promise<Answer> {
  const { source, texts } = context;
  const webhooks = await source.listWebhooks(account);
  return {
    title: `${texts.account} ${account}`,
    content: html`${crumbs(context, [['/', texts.start]])}<h1>${texts.account} ${account}</h1>
${card(texts.webhooks, webhookTable(context, webhooks), {
  id: 'webhooks',
  beside:
    source.operator &&
    html`<a class="button" href="${context.folder}${pathOf({ account })}/events">${texts.events}</a>`,
})}`,
  };
}

/** The events that came for an account since yesterday, and what became of each. It does not renew itself: it searches logs. */
export async function eventsPage(context: Context, { account = '' }: Parameters): Promise<Answer> {
  const { texts } = context;
  const events = await operatorOf(context).listEvents(account);
  return {
    title: `${texts.events} · ${account}`,
    isLive: false,
    content: html`${crumbs(context, [
      ['/', texts.start],
      [pathOf({ account }), account],
    ])}<h1>${texts.events}</h1>
${card(texts.events, eventTable(context, account, events), {
  beside: html`<p>${texts.lookedSince} ${events.since.slice(0, 16).replace('T', ' ')}Z</p>`,
})}`,
  };
}

export function webhookTable(context: Context, webhooks: readonly WebhookView[]): Html {
  const { texts } = context;
  return table(
    [
      { heading: texts.event, value: webhook => link(context, pathOf(webhook), webhook.event) },
      {
        heading: texts.state,
        value: ({ status, reason }) => html`${badge(context, status)} ${reason && html`<small>${reason}</small>`}`,
      },
      { heading: texts.address, value: ({ address }) => html`<span class="code">${address ?? '–'}</span>` },
      { heading: texts.what, value: webhook => healthOf(context, webhook) },
    ],
    webhooks,
    texts.noWebhooks,
  );
}

/** Writes how a webhook does: since when it fails, or is slow. */
export function healthOf(context: Context, { failingSince, slowSince }: WebhookView): Html | string {
  const { texts } = context;
  if (!failingSince && !slowSince) return '–';
  return html`${failingSince && html`<div>${badge(context, texts.failing, 'bad')} ${timeOf(failingSince, context)}</div>`}${slowSince && html`<div>${badge(context, texts.slow, 'wait')} ${timeOf(slowSince, context)}</div>`}`;
}

function eventTable(context: Context, account: string, { events }: EventsView) {
  const { texts } = context;
  return table(
    [
      { heading: texts.accepted, value: ({ at }) => timeOf(at, context) },
      { heading: texts.event, value: ({ event }) => event },
      { heading: texts.fate, value: ({ fate }) => badge(context, fate) },
      { heading: texts.why, value: ({ why }) => why },
      {
        heading: texts.id,
        value: ({ id, event }) =>
          id.startsWith('evt_')
            ? link(context, pathOf({ account, event, id }), id.slice(0, 14))
            : html`<span class="code">${id}</span>`,
      },
    ],
    events,
    texts.noEvents,
  );
}
