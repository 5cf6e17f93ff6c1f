import { EVENT_NAMES } from '../../../lambdas/webhooks/webhook.ts';
import { type Html, html } from '../html.ts';
import {
  type Answer,
  badge,
  type Context,
  card,
  exactTimeOf,
  facts,
  link,
  type Parameters,
  pathOf,
  timeOf,
  troubleNote,
} from '../page.ts';
import { failureOf, operatorOf } from '../page-parts.ts';
import { NotThere, Refusal } from '../views.ts';
import { causeDetail, causeText, fateBadge } from './events.ts';

/** The search: by any id, or by what the publisher of an event knows of it. What was typed stays, whatever is found. */
export async function findPage(context: Context, _: Parameters, values: URLSearchParams): Promise<Answer> {
  const { source, texts, folder, say } = context;
  const asked = { id: typed(values, 'id'), account: typed(values, 'account'), event: typed(values, 'event') };
  const optional = (label: string) => `${label} (${texts.optional})`;
  const { status, result } =
    asked.id === undefined ? { result: null } : await found(context, { ...asked, id: asked.id });
  return {
    title: texts.find,
    isLive: false,
    ...(status !== undefined && { status }),
    content: html`<h1>${texts.find}</h1><p class="lead">${source.operator ? texts.findLead : say('By the webhook-id of a delivery.', 'Pelo webhook-id de uma entrega.')}</p>
<form class="row card inside" method="get" action="${folder}/find"><label>${texts.anyId}<input class="wide" type="search" name="id" value="${asked.id}" maxlength="300" autocomplete="off" required${asked.id === undefined && html` autofocus`}></label>
${source.operator && html`<label>${optional(texts.account)}<input name="account" value="${asked.account}" maxlength="64" autocomplete="off"></label>`}
<label>${optional(texts.event)}<input name="event" value="${asked.event}" maxlength="128" autocomplete="off" list="events"></label><datalist id="events">${EVENT_NAMES.map(name => html`<option value="${name}">`)}</datalist>
<button class="main">${texts.search}</button></form>${result}`,
  };
}

interface Asked {
  readonly id: string;
  readonly account: string | undefined;
  readonly event: string | undefined;
}

function typed(values: URLSearchParams, name: string): string | undefined {
  return values.get(name)?.trim() || undefined;
}

/** Returns the card of what was found, or the note why nothing was: the form above it stays. */
async function found(context: Context, asked: Asked): Promise<{ readonly status?: number; readonly result: Html }> {
  try {
    return { result: await (context.source.operator ? operatorCard(context, asked) : integratorCard(context, asked)) };
  } catch (error) {
    const { status, message } = failureOf(context, error);
    return { status, result: troubleNote(context, message) };
  }
}

async function operatorCard(context: Context, { id, account, event }: Asked): Promise<Html> {
  const { texts } = context;
  if ((account === undefined) !== (event === undefined)) throw new Refusal(texts.findLead);
  return eventCard(context, { id, account, event });
}

/** Writes what became of an event, with the way to its delivery or to its dead letter. */
async function eventCard(context: Context, asked: Asked): Promise<Html> {
  const { texts } = context;
  const { verdict, cause, delivery, searchedSince } = await operatorOf(context).findEvent(asked);
  return card(
    html`${delivery ? texts.delivery : texts.event} ${fateBadge(context, verdict)}`,
    html`<div class="inside">${causeText(context, cause)}${causeDetail(context, cause)}</div>${
      delivery &&
      facts([
        [texts.id, html`<span class="code">${link(context, pathOf(delivery), delivery.id)}</span>`],
        [texts.account, link(context, pathOf({ account: delivery.account }), delivery.account)],
        [texts.webhook, link(context, pathOf({ account: delivery.account, event: delivery.event }), delivery.event)],
      ])
    }`,
    { beside: searchedSince !== undefined && html`<p>${texts.lookedSince} ${exactTimeOf(searchedSince, context)}</p>` },
  );
}

/** Finds a delivery of the account. The API knows it by its event: where none was named all are tried, also those without a webhook. */
async function integratorCard(context: Context, { id, event }: Asked): Promise<Html> {
  const { source, texts } = context;
  const account = source.account ?? '';
  const registered = event === undefined ? await source.listWebhooks(account) : [];
  const events = event === undefined ? [...EVENT_NAMES, ...registered.map(webhook => webhook.event)] : [event];
  const all = await Promise.all(Array.from(new Set(events), event => source.findDelivery({ account, event, id })));
  const delivery = all.find(one => one !== undefined);
  if (!delivery) throw new NotThere(texts.notThere);
  return card(
    html`${texts.delivery} ${badge(context, delivery.state)}`,
    facts([
      [texts.id, html`<span class="code">${link(context, pathOf(delivery), id)}</span>`],
      [texts.event, delivery.event],
      [texts.accepted, timeOf(delivery.createdAt, context)],
    ]),
  );
}
