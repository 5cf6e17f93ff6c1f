import { wireReasons, wireStatuses } from '../../../lambdas/webhooks/representation.ts';
import { healthBadge, healthSince } from '../health.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import {
  type Answer,
  badge,
  button,
  type Context,
  card,
  crumbs,
  facts,
  link,
  oneLine,
  type Parameters,
  pathOf,
  stepsTo,
  table,
  timeOf,
} from '../page.ts';
import { failureOf, partOf, resultOf, tiles, unreadPart } from '../page-parts.ts';
import { type DeliveryPage, type DeliveryRow, type LatestDeliveries, NotThere, type WebhookView } from '../views.ts';
import { tallyCard } from './webhook-chart.ts';
import {
  addressOf,
  type Filter,
  filterOf,
  queryOf,
  stateChips,
  stepsOf,
  strangeValues,
  timesOf,
} from './webhook-filter.ts';
import { replayCard } from './webhook-replay.ts';

/** A webhook: how it does, its deliveries over time, how quick it is, and its history by state and time. */
export async function webhookPage(context: Context, { event = '' }: Parameters): Promise<Answer> {
  const { source, texts, say, query, now } = context;
  const filter = filterOf(query);
  const webhook = await source.findWebhook(event);
  const steps = stepsOf(filter, now);
  const times = timesOf(filter, now);
  const choice = { event, ...times, state: filter.state, cursor: filter.cursor, limit: rows };
  // What is asked for by state, time or page is all that is read then: a look at the latest costs as much again.
  const isFirst = queryOf(filter) === '';
  const [latest, filtered, tally, replay] = await Promise.all([
    isFirst ? partOf(source.latestDeliveries(choice)) : undefined,
    isFirst ? undefined : partOf(source.listDeliveries(choice)),
    partOf(source.tally({ event, ...steps })),
    partOf(source.findReplay(event, query.get('replay') ?? undefined)),
  ]);
  const list = latest ?? filtered ?? {};
  const isNone = list.value?.deliveries.length === 0 && !list.value.next;
  if (!webhook && isFirst && isNone) throw new NotThere(texts.notThere);
  return {
    title: event,
    content: html`${crumbs(context, stepsTo(context))}<a class="skip" href="#list">${say('Skip to the deliveries', 'Ir para as entregas')}</a><div class="heading"><div><h1>${event}${webhook && healthBadge(context, webhook)}</h1>${webhook && html`<p class="muted" id="since" data-live>${healthSince(context, webhook)}</p>`}</div>
<div class="actions" id="actions" data-live>${webhook && actionsOn(context, webhook)}</div></div>
${strangeValues(context, filter)}${webhook && overview(context, webhook)}
${replay.why === undefined ? replayCard(context, event, replay.value) : card(say('Replay', 'Reenvio'), html`<div class="inside">${unreadPart(context, replay.why)}</div>`, { id: 'replay' })}
${tallyCard(context, event, { filter, steps, tally: tally.value, why: tally.why })}
${latest?.value && speed(context, latest.value)}
<div id="list">${card(
      texts.deliveries,
      html`<div class="inside">${stateChips(context, event, filter)}</div>
<div id="deliveries" data-live>${list.value ? deliveryTable(context, list.value, isFirst) : html`<div class="inside">${unreadPart(context, list.why ?? '–')}</div>`}</div>
${list.value && pageLinks(context, event, filter, list.value)}`,
      { beside: webhook && replayLink(context, webhook, filter) },
    )}</div>`,
  };

  function replayLink(context: Context, { status }: WebhookView, filter: Filter): HtmlValue {
    const { state } = filter;
    if (!source.mayChange || (state !== 'falhou' && state !== 'retida')) return undefined;
    if (status === wireStatuses.suspended)
      return html`<p>${say('Reactivate the webhook to send them again.', 'Reative o webhook para reenviá-las.')}</p>`;
    return html`<a class="button" href="${context.folder}${pathOf({ event })}/replay?${queryOf({ ...filter, cursor: undefined })}">${say('Send all of these again', 'Reenviar todas estas')}</a>`;
  }
}

/** Sends a test, and leads to its delivery. */
export async function test({ source, say }: Context, { event = '' }: Parameters): Promise<Answer> {
  const id = await source.test(event);
  return { location: pathOf({ event, id }), note: say('The test is on its way.', 'O teste está a caminho.') };
}

export async function reactivate({ source, say }: Context, { event = '' }: Parameters): Promise<Answer> {
  await source.reactivate(event);
  const note = say('The webhook is active again.', 'O webhook está ativo de novo.');
  return { location: pathOf({ event }), note };
}

/** The rows of each page of the list. */
const rows = 20;

/** Writes what can be done with a webhook: nothing that would be refused. */
function actionsOn(context: Context, webhook: WebhookView): HtmlValue {
  const { source, texts, say, folder } = context;
  if (!source.mayChange) return null;
  const path = pathOf({ event: webhook.event });
  const isSuspended = webhook.status === wireStatuses.suspended;
  const byOperator = isByOperator(webhook);
  return [
    isSuspended && !byOperator && button(context, `${path}/reactivate`, texts.reactivate, 'main'),
    !byOperator && button(context, `${path}/test`, say('Send a test', 'Enviar um teste')),
    html`<a class="button" href="${folder}${path}/settings">${say('Settings', 'Configurações')}</a>`,
  ];
}

function isByOperator({ status, reason }: WebhookView): boolean {
  return status === wireStatuses.suspended && reason === wireReasons.operator;
}

/** Writes where a webhook leads, and whom to ask where only an operator ends its suspension. */
function overview(context: Context, webhook: WebhookView): Html {
  const { texts, say } = context;
  const { url, hasAuthorization, createdAt, updatedAt } = webhook;
  return html`<section class="card" id="webhook" data-live>${facts([
    [texts.address, oneLine(context, url)],
    [texts.authorization, hasAuthorization ? texts.set : texts.notSet],
    [texts.created, timeOf(createdAt, context)],
    ...(updatedAt === createdAt ? [] : [[texts.updated, timeOf(updatedAt, context)] as const]),
  ])}${isByOperator(webhook) && html`<p class="inside">${say('An operator of the service suspended this webhook, and only an operator ends that: ask support, which gave you your credentials. Until then its events are held.', 'Um operador do serviço suspendeu este webhook, e só um operador pode encerrar isso: fale com o suporte, que lhe deu as credenciais. Até lá os eventos ficam retidos.')}</p>`}</section>`;
}

/** Writes how long deliveries wait for their first attempt, and the receiver for its answers. */
function speed(context: Context, { timed, unread }: LatestDeliveries): HtmlValue {
  const { say } = context;
  if (timed.length === 0)
    return (
      unread !== undefined &&
      html`<section id="speed" data-live>${unreadPart(context, failureOf(unread).message)}</section>`
    );
  const waits = timed.flatMap(({ made, createdAt }) => {
    const first = made.find(({ number }) => number === 1);
    return first ? [Math.max(0, Date.parse(first.startedAt) - Date.parse(createdAt))] : [];
  });
  const answers = timed.flatMap(({ made }) => made.map(({ durationMs }) => durationMs));
  const [wait, answer] = [
    say('Wait for the first attempt', 'Espera pela primeira tentativa'),
    say('Answer time', 'Tempo de resposta'),
  ];
  const figures = [
    [wait, waits],
    [answer, answers],
  ] as const;
  const figure = (values: readonly number[], share: number) =>
    html`${duration(context, percentile(values, share))} <small>p${100 * share}</small>`;
  return html`<section id="speed" data-live aria-label="${answer}">${tiles(
    figures.map(([name, values]) => ({ name, figure: html`${figure(values, 0.5)} ${figure(values, 0.99)}` })),
  )}<p class="muted">${timed.length === 1 ? say('Of the latest delivery.', 'Da última entrega.') : say(`Of the latest ${timed.length} deliveries and their attempts that are kept.`, `Das últimas ${timed.length} entregas e das suas tentativas que são guardadas.`)}</p></section>`;
}

function deliveryTable(context: Context, { deliveries, next }: DeliveryPage, isAll: boolean): Html {
  const { texts, say } = context;
  const waits = deliveries.some(({ nextAttemptAt }) => nextAttemptAt);
  const list = table<DeliveryRow>(
    [
      { heading: texts.accepted, value: ({ createdAt }) => timeOf(createdAt, context), isBrief: true },
      { heading: texts.state, value: ({ state }) => badge(context, state), isBrief: true },
      {
        heading: texts.lastResult,
        // A result that is the state is said beside it.
        value: ({ lastResult, ...delivery }) =>
          resultOf(context, { ...delivery, lastResult: lastResult === delivery.state ? null : lastResult }),
        isBrief: true,
      },
      { heading: texts.attempts, value: ({ attempts }) => attempts, isNumber: true },
      ...(waits
        ? [{ heading: texts.nextAttempt, value: ({ nextAttemptAt }: DeliveryRow) => timeOf(nextAttemptAt, context) }]
        : []),
      {
        heading: texts.id,
        value: delivery => html`<span class="code">${link(context, pathOf(delivery), delivery.id)}</span>`,
      },
    ],
    deliveries,
    next // the API may leave a page empty
      ? say('None on this page; there may be older ones.', 'Nenhuma nesta página; pode haver mais antigas.')
      : isAll
        ? say(
            'No event has come yet. A test shows how one is delivered.',
            'Nenhum evento chegou ainda. Um teste mostra como um é entregue.',
          )
        : say(
            'No delivery matches. Widen the time, or choose another state.',
            'Nenhuma entrega corresponde. Amplie o período ou escolha outro estado.',
          ),
  );
  return waits ? list : html`<div class="lines">${list}</div>`; // with one column more there is no room
}

function pageLinks(context: Context, event: string, filter: Filter, { next }: DeliveryPage): HtmlValue {
  const { say } = context;
  if (!next && !filter.cursor) return undefined;
  const to = (cursor: string | undefined, name: string) =>
    link(context, `${addressOf(event, { ...filter, cursor })}#list`, name);
  return html`<div class="inside actions">${filter.cursor && to(undefined, say('Newest', 'Mais novas'))} ${next && to(next, say('Older', 'Mais antigas'))}</div>`;
}

function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

function duration({ say }: Context, milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '–';
  if (milliseconds < 1_000) return `${milliseconds} ms`;
  const seconds = (milliseconds / 1_000).toFixed(1);
  return `${say(seconds, seconds.replace('.', ','))} s`;
}
