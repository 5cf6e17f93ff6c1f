import { wireStates } from '../../../lambdas/delivery/representation.ts';
import { healthSince } from '../health.ts';
import { html } from '../html.ts';
import {
  type Answer,
  badge,
  button,
  type Context,
  card,
  crumbs,
  facts,
  link,
  type Parameters,
  pathOf,
  stepsTo,
  table,
  timeOf,
} from '../page.ts';
import { operatorOf, question, unreadPart } from '../page-parts.ts';
import { textFor } from '../texts.ts';
import {
  type DeliveryPage,
  type DeliveryQuery,
  type DeliveryRow,
  type DeliveryView,
  NotThere,
  Refusal,
  type ReplayRange,
} from '../views.ts';

/** A webhook: how it does, its latest deliveries, and its history by state and time. */
export async function webhookPage(context: Context, { account = '', event = '' }: Parameters): Promise<Answer> {
  const { source, texts, query } = context;
  const asked = queryOf(account, event, query);
  // What is asked for by state, time or page is all that is read then: a look at the latest costs as much again.
  const isFirst = Object.keys(known(asked)).length === 0 && asked.cursor === undefined;
  const [webhook, latest, filtered] = await Promise.all([
    source.findWebhook(account, event),
    isFirst ? source.latestDeliveries(account, event) : undefined,
    isFirst ? undefined : source.listDeliveries(asked),
  ]);
  const page = filtered ?? latest ?? { deliveries: [], next: null };
  if (!webhook && isFirst && page.deliveries.length === 0) throw new NotThere(texts.notThere);
  const path = pathOf({ account, event });
  return {
    title: `${event} · ${account}`,
    content: html`${crumbs(context, stepsTo(context, { account }))}<h1>${event}${webhook && badge(context, webhook.status)}</h1>
${card(
  texts.webhook,
  html`${facts([
    [texts.address, webhook?.address && html`<span class="code">${webhook.address}</span>`],
    [texts.reason, webhook?.reason],
    [texts.what, webhook && healthSince(context, webhook)],
    [texts.authorization, webhook && (webhook.hasAuthorization ? texts.set : texts.notSet)],
    [texts.created, timeOf(webhook?.createdAt, context)],
    [texts.updated, timeOf(webhook?.updatedAt, context)],
  ])}<div class="inside actions">${button(context, `${path}/test`, texts.test)}
${webhook?.status === 'suspenso' ? button(context, `${path}/reactivate`, texts.reactivate, 'main') : source.operator && source.mayChange && html`<a class="button" href="${context.folder}${path}/suspend">${texts.suspend}</a>`}
${webhook && source.change && source.mayChange && html`<a class="button" href="${context.folder}${path}/settings">${context.say('Settings', 'Configurações')}</a>`}</div>`,
  { id: 'webhook' },
)}
${latest?.unread && unreadPart(context, context.say(`the attempts of ${latest.unread.count} deliveries: ${latest.unread.why}`, `as tentativas de ${latest.unread.count} entregas: ${latest.unread.why}`))}
${latest && latest.deliveries.length > 0 && card(texts.latest, html`<div class="inside">${bars(context, latest.deliveries)}</div>${times(context, latest.deliveries)}`, { id: 'latest', beside: html`<p>${latest.deliveries.length}, ${texts.oldestLeft}</p>` })}
${card(
  texts.deliveries,
  html`${filterForm(context, path, asked)}${deliveryTable(context, page)}${olderLink(context, path, asked, page)}`,
  {
    beside:
      source.mayChange &&
      html`<a class="button" href="${context.folder}${path}/replay?${new URLSearchParams(known(asked)).toString()}">${texts.resendAll}</a>`,
  },
)}`,
  };
}

export async function test({ source, texts }: Context, { account = '', event = '' }: Parameters): Promise<Answer> {
  await source.test(account, event);
  return { location: pathOf({ account, event }), note: texts.doneTest };
}

export async function askSuspend(context: Context, { account = '', event = '' }: Parameters): Promise<Answer> {
  operatorOf(context);
  const { texts } = context;
  const path = pathOf({ account, event });
  return question(context, {
    title: texts.askSuspend,
    means: html`${account} · ${event}<br>${texts.suspendMeans}`,
    verb: texts.suspend,
    action: `${path}/suspend`,
    cancel: path,
  });
}

export async function suspend(context: Context, { account = '', event = '' }: Parameters): Promise<Answer> {
  await operatorOf(context).suspend(account, event);
  return { location: pathOf({ account, event }), note: context.texts.doneSuspend };
}

export async function reactivate(
  { source, texts }: Context,
  { account = '', event = '' }: Parameters,
): Promise<Answer> {
  await source.reactivate(account, event);
  return { location: pathOf({ account, event }), note: texts.doneReactivate };
}

/** Asks before many deliveries are sent again, with their number. */
export async function askReplay(context: Context, { account = '', event = '' }: Parameters): Promise<Answer> {
  const { texts, query } = context;
  const range = rangeOf(account, event, query, context);
  const { count, isCutOff } = await countMatching(context, range);
  const { state, since, until } = range;
  const said = html`${account} · ${event} · ${badge(context, state)}<br>${since} – ${until}<br>${texts.matching}: <b>${count}</b> ${isCutOff && texts.orMore}<br>${texts.replayMeans}`;
  const path = pathOf({ account, event });
  return question(context, {
    title: texts.askResendAll,
    means: said,
    verb: texts.resend,
    action: `${path}/replay`,
    cancel: `${path}?${query.toString()}`,
    values: { state, since, until },
  });
}

export async function replay(
  context: Context,
  { account = '', event = '' }: Parameters,
  form: URLSearchParams,
): Promise<Answer> {
  await context.source.replay(rangeOf(account, event, form, context));
  return { location: pathOf({ account, event }), note: context.texts.doneReplay };
}

/** Counts what matches, as far as ten pages go. */
async function countMatching({ source }: Context, range: ReplayRange) {
  let [count, cursor]: [number, string | undefined] = [0, undefined];
  for (let page = 0; page < 10; page++) {
    const { deliveries, next } = await source.listDeliveries({ ...range, cursor, limit: 100 });
    count += deliveries.length;
    if (next === null) return { count, isCutOff: false };
    cursor = next;
  }
  return { count, isCutOff: true };
}

function queryOf(account: string, event: string, query: URLSearchParams): DeliveryQuery {
  const state = Object.values(wireStates).find(word => word === query.get('state'));
  const text = (name: string) => query.get(name)?.trim() || undefined;
  return {
    account,
    event,
    state,
    since: instantOf(text('since')),
    until: instantOf(text('until')),
    cursor: text('cursor'),
    limit: 20,
  };
}

function rangeOf(account: string, event: string, values: URLSearchParams, { texts, now }: Context): ReplayRange {
  const { state, since, until } = queryOf(account, event, values);
  if (state !== 'falhou' && state !== 'retida') throw new Refusal(texts.chooseState);
  const end = new Date(now).toISOString();
  return { account, event, state, since: since ?? new Date(now - 30 * 86_400_000).toISOString(), until: until ?? end };
}

/** Returns RFC 3339 of what a browser's field for times sends: no zone is UTC. */
function instantOf(typed: string | undefined): string | undefined {
  if (typed === undefined) return undefined;
  const time = Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(typed) ? typed : `${typed}Z`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

function known({ state, since, until }: DeliveryQuery): Record<string, string> {
  return { ...(state && { state }), ...(since && { since }), ...(until && { until }) };
}

function filterForm({ texts, folder }: Context, path: string, { state, since, until }: DeliveryQuery) {
  const field = (name: string, label: string, value = '') =>
    html`<label>${label} (UTC)<input type="datetime-local" name="${name}" value="${value.slice(0, 16)}"></label>`;
  const option = (word: string, label: string) =>
    word === (state ?? '')
      ? html`<option value="${word}" selected>${label}</option>`
      : html`<option value="${word}">${label}</option>`;
  return html`<form class="row inside" method="get" action="${folder}${path}"><label>${texts.state}<select name="state">${option('', texts.all)}${Object.values(wireStates).map(word => option(word, word))}</select></label>
${field('since', texts.since, since)}${field('until', texts.until, until)}<button>${texts.filter}</button></form>`;
}

function deliveryTable(context: Context, { deliveries }: DeliveryPage) {
  const { texts } = context;
  return html`<div id="deliveries" data-live>${table<DeliveryRow>(
    [
      { heading: texts.accepted, value: ({ createdAt }) => timeOf(createdAt, context) },
      { heading: texts.state, value: ({ state }) => badge(context, state) },
      { heading: texts.attempts, value: ({ attempts }) => attempts, isNumber: true },
      {
        heading: texts.lastResult,
        value: ({ lastResult, lastStatus }) =>
          html`${lastResult && (textFor(texts, 'result', lastResult) ?? lastResult)} ${lastStatus && html`<span class="code">${lastStatus}</span>`}`,
      },
      { heading: texts.nextAttempt, value: ({ nextAttemptAt }) => timeOf(nextAttemptAt, context) },
      {
        heading: texts.id,
        value: delivery => html`<span class="code">${link(context, pathOf(delivery), delivery.id)}</span>`,
      },
    ],
    deliveries,
    texts.noDeliveries,
  )}</div>`;
}

function olderLink(context: Context, path: string, asked: DeliveryQuery, { next }: DeliveryPage) {
  const { texts } = context;
  const to = (cursor: string | null) =>
    `${path}?${new URLSearchParams({ ...known(asked), ...(cursor && { cursor }) })}`;
  if (!next && !asked.cursor) return null;
  return html`<div class="inside actions">${asked.cursor && link(context, to(null), texts.first)} ${next && link(context, to(next), texts.next)}</div>`;
}

/** Draws the latest deliveries as bars: their height is the number of attempts, their colour the state; the numbers stand below. */
function bars(context: Context, latest: readonly DeliveryView[]) {
  const { texts } = context;
  const shown = latest.toReversed();
  const width = 100 / Math.max(shown.length, 20);
  const counts = Object.values(wireStates).map(
    state => [state, shown.filter(delivery => delivery.state === state).length] as const,
  );
  const said = counts.filter(([, count]) => count > 0).map(([state, count]) => `${count} ${state}`);
  return html`<svg class="bars" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label="${texts.latest}: ${said.join(', ')}">${shown.map(
    ({ state, attempts }, at) => {
      const height = Math.min(24, 6 + attempts * 2);
      return html`<rect class="${state}" x="${(at * width).toFixed(2)}" y="${24 - height}" width="${(width * 0.8).toFixed(2)}" height="${height}"/>`;
    },
  )}</svg><p class="muted">${counts.filter(([, count]) => count > 0).map(([state, count]) => html`${badge(context, state)} ${count} `)}</p>`;
}

function times({ texts }: Context, latest: readonly DeliveryView[]) {
  const waits = latest.flatMap(({ made, createdAt }) => {
    const first = made.find(({ number }) => number === 1);
    return first ? [Math.max(0, Date.parse(first.startedAt) - Date.parse(createdAt))] : [];
  });
  const answers = latest.flatMap(({ made }) => made.map(({ durationMs }) => durationMs));
  const figures = (values: readonly number[]) =>
    html`<span class="figure">p50 ${duration(percentile(values, 0.5))}</span> · p99 ${duration(percentile(values, 0.99))}`;
  return facts([
    [texts.waitTime, figures(waits)],
    [texts.answerTime, figures(answers)],
  ]);
}

function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

function duration(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '–';
  return milliseconds < 1_000 ? `${milliseconds} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}
