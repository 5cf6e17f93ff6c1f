import { html } from '../html.ts';
import type { StartView } from '../operator/start.ts';
import { type Answer, badge, type Context, card, link, type Parameters, pathOf, table, timeOf } from '../page.ts';
import type { OperatorSource } from '../source.ts';
import { webhookTable } from './account.ts';

/** The first page: what needs the operator, and how things are; for an integrator the account's webhooks. */
export async function startPage(context: Context, _: Parameters, values: URLSearchParams): Promise<Answer> {
  const { source, texts } = context;
  const asked = values.get('account')?.trim();
  if (asked) return { location: pathOf({ account: asked }) };
  if (source.operator) return operatorStart(context, source.operator);
  const account = source.account ?? '';
  const webhooks = await source.listWebhooks(account);
  return {
    title: texts.webhooks,
    content: html`<h1>${texts.webhooks}</h1><p class="lead">${texts.account} <code>${account}</code></p>
${card(texts.webhooks, webhookTable(context, webhooks), { id: 'webhooks' })}`,
  };
}

async function operatorStart(context: Context, operator: OperatorSource): Promise<Answer> {
  const { texts, folder } = context;
  const start = await operator.readStart();
  return {
    title: texts.start,
    content: html`<h1>${texts.start}</h1>
${card(texts.needsYou, needs(context, start), { id: 'needs' })}
<form class="row card inside" method="get" action="${folder}/accounts"><label>${texts.openAccount}<input name="account" required maxlength="64" autocomplete="off"></label><button>${texts.open}</button></form>
${card(texts.troubled, troubledTable(context, start), { id: 'troubled' })}
<div class="two">${card(texts.queues, queueTable(context, start), { id: 'queues' })}
${card(texts.keys, keyTable(context, start), { id: 'keys' })}</div>
${card(texts.alarms, alarmTable(context, start), { id: 'alarms' })}
<p class="lead">${texts.rare} <code>npm run ops -- --help</code></p>`,
  };
}

function needs({ texts }: Context, { problems, unread }: StartView) {
  const all = [...problems, ...unread.map(why => `${texts.unread}: ${why}`)];
  if (all.length === 0) return html`<p class="empty">${texts.nothingNeeds}</p>`;
  return html`<ul class="needs">${all.map(problem => html`<li>${problem}</li>`)}</ul>`;
}

function troubledTable(context: Context, { webhooks }: StartView) {
  const { texts } = context;
  return table(
    [
      { heading: texts.account, value: ({ account }) => link(context, pathOf({ account }), account) },
      { heading: texts.event, value: ({ account, event }) => link(context, pathOf({ account, event }), event) },
      { heading: texts.what, value: ({ what }) => badge(context, what) },
      { heading: texts.since, value: ({ since }) => timeOf(since, context) },
    ],
    webhooks.slice(0, mostRows),
    texts.noTrouble,
  );
}

function queueTable({ texts }: Context, { queues }: StartView) {
  return table(
    [
      { heading: texts.queue, value: ({ name }) => name },
      { heading: texts.waiting, value: ({ waiting }) => waiting, isNumber: true },
      { heading: texts.inFlight, value: ({ inFlight }) => inFlight, isNumber: true },
      { heading: texts.delayed, value: ({ delayed }) => delayed, isNumber: true },
    ],
    queues,
    '–',
  );
}

function keyTable(context: Context, { keys }: StartView) {
  const { texts } = context;
  return table(
    [
      { heading: texts.kind, value: ({ kind }) => kind },
      { heading: texts.inUseSince, value: ({ activeSince }) => timeOf(activeSince, context) },
      { heading: texts.nextKey, value: ({ nextMadeAt }) => (nextMadeAt ? timeOf(nextMadeAt, context) : texts.ready) },
    ],
    keys,
    '–',
  );
}

function alarmTable(context: Context, { alarms }: StartView) {
  const { texts } = context;
  return table(
    [
      { heading: texts.alarms, value: ({ name }) => name },
      { heading: texts.since, value: ({ since }) => timeOf(since, context) },
      { heading: texts.why, value: ({ description }) => description },
    ],
    alarms,
    texts.noAlarms,
  );
}

/** The webhooks that are shown. */
const mostRows = 50;
