import { healthBadge, healthSince } from '../health.ts';
import { type Html, html } from '../html.ts';
import {
  type Answer,
  badge,
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
import type { WebhookView } from '../views.ts';

/** An account: its webhooks, and for an operator the way to the events that came for it. */
export async function accountPage(context: Context, { account = '' }: Parameters): Promise<Answer> {
  const { source, texts } = context;
  const webhooks = await source.listWebhooks(account);
  return {
    title: `${texts.account} ${account}`,
    content: html`${accountHead(context, account, 'webhooks')}
${card(texts.webhooks, webhookTable(context, webhooks), { id: 'webhooks' })}`,
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

/** Writes webhooks, each in a line. */
export function webhookTable(context: Context, webhooks: readonly WebhookView[]): Html {
  const { texts } = context;
  return table(
    [
      { heading: texts.event, value: webhook => link(context, pathOf(webhook), webhook.event) },
      { heading: texts.state, value: webhook => healthBadge(context, webhook) },
      { heading: texts.since, value: webhook => healthSince(context, webhook) ?? '–' },
      { heading: texts.address, value: ({ address }) => (address ? oneLine(context, address) : '–') },
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
