import { EVENT_NAMES } from '../../../lambdas/webhooks/webhook.ts';
import { type Html, html } from '../html.ts';
import {
  type Answer,
  badge,
  type Context,
  card,
  facts,
  link,
  type Parameters,
  pathOf,
  timeOf,
  troubleNote,
} from '../page.ts';
import { failureOf } from '../page-parts.ts';
import { NotThere } from '../views.ts';

/** The search for a delivery by its id. What was typed stays, whatever is found. */
export async function findPage(context: Context, _: Parameters, values: URLSearchParams): Promise<Answer> {
  const { texts, folder, say } = context;
  const [id, event] = [typed(values, 'id'), typed(values, 'event')];
  const { status, result } = id === undefined ? { result: null } : await found(context, id, event);
  return {
    title: texts.find,
    isLive: false,
    ...(status !== undefined && { status }),
    content: html`<h1>${texts.find}</h1><p class="lead">${say('By the webhook-id of a delivery.', 'Pelo webhook-id de uma entrega.')}</p>
<form class="row card inside" method="get" action="${folder}/find"><label>${texts.id}<input class="wide" type="search" name="id" value="${id}" maxlength="300" autocomplete="off" required${id === undefined && html` autofocus`}></label>
<label>${texts.event} (${say('optional', 'opcional')})<input name="event" value="${event}" maxlength="128" autocomplete="off" list="events"></label><datalist id="events">${EVENT_NAMES.map(name => html`<option value="${name}">`)}</datalist>
<button class="main">${say('Search', 'Procurar')}</button></form>${result}`,
  };
}

function typed(values: URLSearchParams, name: string): string | undefined {
  return values.get(name)?.trim() || undefined;
}

/** Returns the card of what was found, or the note why nothing was: the form above it stays. */
async function found(
  context: Context,
  id: string,
  event: string | undefined,
): Promise<{ readonly status?: number; readonly result: Html }> {
  try {
    return { result: await deliveryCard(context, id, event) };
  } catch (error) {
    const { status, message } = failureOf(error);
    return { status, result: troubleNote(context, message) };
  }
}

/** Finds a delivery. The API knows it by its event: if none was named all are tried, also those without a webhook. */
async function deliveryCard(context: Context, id: string, event: string | undefined): Promise<Html> {
  const { source, texts } = context;
  const registered = event === undefined ? (await source.readAccount()).webhooks : [];
  const events = event === undefined ? [...EVENT_NAMES, ...registered.map(webhook => webhook.event)] : [event];
  const all = await Promise.all(Array.from(new Set(events), event => source.findDelivery({ event, id })));
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
