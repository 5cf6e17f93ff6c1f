import { html } from '../html.ts';
import {
  type Answer,
  badge,
  button,
  type Context,
  card,
  crumbs,
  facts,
  type Parameters,
  pathOf,
  stepsTo,
  timeOf,
} from '../page.ts';
import { textFor } from '../texts.ts';
import { type AttemptView, type DeliveryView, NotThere } from '../views.ts';

/** A delivery: its verdict, its attempts on a time line, its next attempt. */
export async function deliveryPage(context: Context, parameters: Parameters): Promise<Answer> {
  return pageOf(context, await find(context, parameters));
}

/** The same, with the body. It is asked for by a POST, since each look is written down. */
export async function bodyPage(context: Context, parameters: Parameters): Promise<Answer> {
  const delivery = await find(context, parameters);
  return { ...pageOf(context, delivery, await context.source.readBody(delivery)), isLive: false };
}

export async function resend(
  { source, texts }: Context,
  { account = '', event = '', id = '' }: Parameters,
): Promise<Answer> {
  const reference = { account, event, id };
  await source.resend(reference);
  return { location: pathOf(reference), note: texts.doneResend };
}

async function find(
  { source, texts }: Context,
  { account = '', event = '', id = '' }: Parameters,
): Promise<DeliveryView> {
  const delivery = await source.findDelivery({ account, event, id });
  if (!delivery) throw new NotThere(texts.notThere);
  return delivery;
}

function pageOf(context: Context, delivery: DeliveryView, body?: string) {
  const { source, texts, folder } = context;
  const { account, event, id, state, createdAt, attempts, nextAttemptAt } = delivery;
  const path = pathOf(delivery);
  return {
    title: `${texts.delivery} ${id}`,
    content: html`${crumbs(context, stepsTo(context, { account, event }))}
<h1>${event}${badge(context, state)}</h1><p class="code">${id}</p>
${card(
  texts.verdict,
  html`<div class="inside">${textFor(texts, 'state', state) ?? state}</div>${facts([
    [texts.accepted, timeOf(createdAt, context)],
    [texts.attempts, attempts],
    [texts.nextAttempt, timeOf(nextAttemptAt, context)],
  ])}<div class="inside actions">${button(context, `${path}/resend`, texts.resend, 'main')}
${body === undefined && html`<form method="post" action="${folder}${path}/body"><button>${texts.showBody}</button></form>${source.operator && html`<small>${texts.bodyAudited}</small>`}`}</div>`,
  { id: 'verdict' },
)}
${body !== undefined && card(texts.body, html`<pre class="inside">${body}</pre>`)}
${card(texts.timeline, timeline(context, delivery), { id: 'timeline' })}`,
  };
}

function timeline(context: Context, { made, nextAttemptAt }: DeliveryView) {
  const { texts } = context;
  if (made.length === 0 && !nextAttemptAt) return html`<p class="empty">${texts.noAttempt}</p>`;
  return html`<ol class="line">${made.map(attempt => attemptItem(context, attempt))}${
    nextAttemptAt && html`<li class="next">${texts.nextAttempt}: ${timeOf(nextAttemptAt, context)}</li>`
  }</ol>`;
}

function attemptItem(context: Context, { number, startedAt, durationMs, result, status, answer }: AttemptView) {
  const { texts } = context;
  return html`<li class="${result === 'entregue' ? 'success' : 'failure'}"><b>${number}</b> · ${textFor(texts, 'result', result) ?? result}
${status !== null && html` · ${texts.answered} <span class="code">${status}</span>`} · ${durationMs} ms<br>${timeOf(startedAt, context)}
${answer ? html`<pre>${answer}</pre>` : status !== null && html`<div class="muted">${texts.noAnswer}</div>`}</li>`;
}
