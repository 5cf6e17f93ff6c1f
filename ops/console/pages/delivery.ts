import { isTest } from '../../../lambdas/delivery/delivery.ts';
import { adviceOn } from '../../../lambdas/delivery/failure-causes.ts';
import { wireStatuses } from '../../../lambdas/webhooks/representation.ts';
import { type Html, type HtmlValue, html, verbatim } from '../html.ts';
import {
  type Answer,
  badge,
  button,
  type Context,
  card,
  crumbs,
  facts,
  oneLine,
  type Parameters,
  pathOf,
  stepsTo,
  timeOf,
} from '../page.ts';
import { inLines, type Part, partOf, unreadPart } from '../page-parts.ts';
import { textFor } from '../texts.ts';
import { type AttemptView, type DeliveryView, NotThere, type WebhookView } from '../views.ts';

/** A delivery: its verdict, its attempts with why the next one is then, its body, and the request as it would be sent now. */
export async function deliveryPage(context: Context, parameters: Parameters): Promise<Answer> {
  const { delivery, webhook } = await find(context, parameters);
  return pageOf(context, delivery, webhook);
}

export async function resend({ source, say }: Context, parameters: Parameters): Promise<Answer> {
  const reference = { event: '', id: '', ...parameters };
  await source.resend(reference);
  return { location: pathOf(reference), note: say('It is sent now, or on its way.', 'Enviada agora ou já a caminho.') };
}

async function find({ source, texts }: Context, { event = '', id = '' }: Parameters) {
  const [delivery, webhook] = await Promise.all([
    source.findDelivery({ event, id }),
    partOf(source.findWebhook(event)),
  ]);
  if (!delivery) throw new NotThere(texts.notThere);
  return { delivery, webhook };
}

function pageOf(context: Context, delivery: DeliveryView, webhook: Part<WebhookView | undefined>) {
  const { source, texts, say } = context;
  const { event, id, state, createdAt, attempts, nextAttemptAt, body } = delivery;
  const path = pathOf(delivery);
  const hindrance = hindranceOf(context, delivery, webhook);
  return {
    title: `${texts.delivery} ${id}`,
    content: html`${crumbs(context, stepsTo(context, event))}
<div class="heading"><div><h1>${event}${badge(context, state)}</h1>${oneLine(context, id)}</div>
<div class="actions" id="actions" data-live>${hindrance === undefined && button(context, `${path}/resend`, texts.resend, 'main')}</div></div>
${card(
  texts.verdict,
  html`<div class="inside">${verdictOf(context, delivery)}${hindrance !== undefined && source.mayChange && html`<p class="muted">${hindrance}</p>`}</div>${facts(
    [
      [texts.accepted, timeOf(createdAt, context)],
      [texts.attempts, attempts],
      ...(nextAttemptAt ? [[texts.nextAttempt, timeOf(nextAttemptAt, context)] as const] : []),
    ],
  )}`,
  { id: 'verdict' },
)}
${card(say('Attempts', 'Tentativas'), timeline(context, delivery, webhook.value), { id: 'timeline', beside: html`<p>${say('the newest first', 'a mais nova primeiro')}</p>` })}
${bodyCard(context, body)}
${requestCard(context, delivery, webhook)}`,
  };
}

/** Returns why a delivery cannot be sent again now, if so: a button would be refused. */
function hindranceOf({ say }: Context, delivery: DeliveryView, { value: webhook, why }: Part<WebhookView | undefined>) {
  if (isTest(delivery)) return say('A test is not sent again.', 'Um teste não é reenviado.');
  if (why !== undefined) return undefined;
  if (!webhook) return say('There is no webhook to send it to.', 'Não há webhook para recebê-la.');
  // The clocks of the queue and of the registration may differ.
  if (Date.parse(delivery.createdAt) + 1_000 < Date.parse(webhook.createdAt))
    return say('It was for an earlier registration of the webhook.', 'Era de um cadastro anterior do webhook.');
  if (webhook.status !== wireStatuses.suspended) return undefined;
  return say('Reactivate its webhook to send it again.', 'Reative o webhook para reenviá-la.');
}

/** Says what became of a delivery, and how the last attempt ended. */
function verdictOf(context: Context, delivery: DeliveryView): string {
  const { texts, say } = context;
  const { state, made } = delivery;
  const last = made.at(-1);
  const sentence = textFor(texts, 'state', state) ?? state;
  if (!last || !(state === 'falhou' || state === 'pendente')) return sentence;
  return `${sentence} ${say('The last attempt', 'A última tentativa')}: ${endOf(context, last)}.`;
}

/** The attempts, the newest first, and before them the one that comes. */
function timeline(context: Context, delivery: DeliveryView, webhook: WebhookView | undefined): Html {
  const { texts, say } = context;
  const { made, attempts, nextAttemptAt } = delivery;
  if (made.length === 0 && !nextAttemptAt) return html`<p class="empty">${texts.noAttempt}</p>`;
  // The API does not return what an attempt waits for.
  const orElse = [
    say(
      ' It may also have been sent again, by hand or by a replay: that attempt comes out of turn. ',
      ' Também pode ter sido reenviada, à mão ou por um reenvio: essa tentativa vem fora da sequência. ',
    ),
    webhook?.slowSince &&
      say(
        'The webhook is slow to answer: few of its attempts are made at once, so that others need not wait. Waiting costs no attempt.',
        'O webhook demora a responder: poucas tentativas são feitas ao mesmo tempo, para que os outros não esperem. A espera não gasta tentativa.',
      ),
  ];
  const next = html`<li class="next"><b>${attempts + 1}</b> · ${texts.nextAttempt}: ${timeOf(nextAttemptAt, context)}<br><span class="muted">${whyThen(context, delivery)}${orElse}</span></li>`;
  const first = made[0]?.number ?? 1;
  return html`<ol class="line">${nextAttemptAt && next}${alikeTogether(made.toReversed()).map(alike => attemptItem(context, alike))}</ol>${first > 1 && html`<p class="inside muted">${say('Earlier ones are not kept.', 'As anteriores não são guardadas.')}</p>`}`;
}

/** Says by which rule the next attempt is when it is. */
function whyThen({ say }: Context, { made, nextAttemptAt }: DeliveryView): string {
  const last = made.at(-1);
  if (!last) return say('The first attempt is made at once.', 'A primeira tentativa é feita em seguida.');
  const after = Date.parse(nextAttemptAt ?? '') - Date.parse(last.startedAt) - last.durationMs;
  const wait = say(
    `It follows ${spanOf(after)} after attempt ${last.number}.`,
    `Vem ${spanOf(after)} depois da tentativa ${last.number}.`,
  );
  if (last.result === 'lenta')
    return `${wait} ${say('That one was ended early because others waited: it is repeated at once, with more time, and not counted.', 'Aquela foi encerrada antes porque outras esperavam: é repetida em seguida, com mais tempo, e não conta.')}`;
  if (last.result === 'interno')
    return `${wait} ${say('That one failed by a fault of our own and is not counted: the wait grows from 1 min to 15 min.', 'Aquela falhou por culpa nossa e não conta: a espera cresce de 1 min a 15 min.')}`;
  const asked =
    last.status === 429 || last.status === 503
      ? say(
          ' Where your server asks for longer by Retry-After, it counts, up to 24 h.',
          ' Se o servidor pedir mais por Retry-After, isso vale, até 24 h.',
        )
      : '';
  return `${wait} ${say('The wait grows with each failed attempt of the schedule; up to a fifth of it is taken off at random.', 'A espera cresce a cada tentativa que falha; até um quinto dela é descontado ao acaso.')}${asked}`;
}

/** Puts attempts together that follow each other and ended alike. */
function alikeTogether(attempts: readonly AttemptView[]): readonly (readonly AttemptView[])[] {
  const groups: AttemptView[][] = [];
  for (const attempt of attempts) {
    const group = groups.at(-1);
    const [other] = group ?? [];
    const isAlike =
      other &&
      ['result', 'detail', 'status', 'answer'].every(name => Reflect.get(other, name) === Reflect.get(attempt, name));
    if (group && isAlike) group.push(attempt);
    else groups.push([attempt]);
  }
  return groups;
}

function attemptItem(context: Context, [newest, ...earlier]: readonly AttemptView[]): HtmlValue {
  const { texts, say } = context;
  if (!newest) return undefined;
  const { result, detail, status, answer } = newest;
  const advice = adviceOn(detail);
  const cause = detail !== null && html` (<code>${detail}</code>)`;
  const said = answer
    ? html`<pre>${answer}</pre>`
    : status !== null &&
      html`<div class="muted">${answer === '' ? say('The answer was empty.', 'A resposta veio vazia.') : texts.noAnswer}</div>`;
  const more =
    status === null
      ? say(`${earlier.length} more with the same result`, `Mais ${earlier.length} com o mesmo resultado`)
      : say(`${earlier.length} more with the same answer`, `Mais ${earlier.length} com a mesma resposta`);
  return html`<li class="${result === 'entregue' ? 'success' : 'failure'}"><b>${newest.number}</b> · ${endOf(context, newest)}${cause} · ${newest.durationMs} ms<br>${timeOf(newest.startedAt, context)}
${advice && html`<div>${say(advice.en, advice.pt)}</div>`}${said}${earlier.length > 0 && html`<details><summary>${more}</summary><ul>${earlier.map(({ number, durationMs, startedAt }) => html`<li><b>${number}</b> · ${durationMs} ms · ${timeOf(startedAt, context)}</li>`)}</ul></details>`}</li>`;
}

function endOf({ texts }: Context, { result, status }: AttemptView): string {
  const how = textFor(texts, 'result', result) ?? result;
  return status === null ? how : `${how}, ${texts.answered} ${status}`;
}

/** Writes the bytes that are signed, and the same set in lines. */
function bodyCard(context: Context, body: string): Html {
  const { texts, say } = context;
  const lines = inLines(body);
  return card(
    texts.body,
    html`<div class="inside two"><section><h3>${say('As it is signed', 'Como é assinado')}${copyButton(context, verbatim(body))}</h3><pre>${body}</pre></section>
${lines !== undefined && html`<section><h3>${say('The same, set in lines to be read', 'O mesmo, em linhas para leitura')}</h3><pre>${lines}</pre></section>`}</div>`,
  );
}

/** Writes the request of an attempt that were made now. Neither URL nor headers of past ones are kept. */
function requestCard(context: Context, delivery: DeliveryView, part: Part<WebhookView | undefined>): Html {
  const { say } = context;
  const { value: webhook, why } = part;
  const heading = say('The request as it would be sent now', 'A requisição como seria enviada agora');
  if (why !== undefined) return card(heading, html`<div class="inside">${unreadPart(context, why)}</div>`);
  if (!webhook)
    return card(
      heading,
      html`<p class="empty">${say('There is no webhook now: nothing would be sent.', 'Não há webhook agora: nada seria enviado.')}</p>`,
    );
  const { url } = webhook;
  const headers = Object.entries(headersOf(context, delivery, webhook));
  const command = [
    `curl -g -X POST ${quoted(url)}`,
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-binary ${quoted(delivery.body)}`,
  ].join(' \\\n  ');
  return card(
    heading,
    html`<div class="inside request"><p class="muted">${say('The URL and the headers of past attempts are not kept. The parts in <> are not shown: the signature of that moment, and the credential.', 'A URL e os cabeçalhos das tentativas passadas não são guardados. O que está entre <> não é mostrado: a assinatura daquele momento e a credencial.')}${webhook.status === wireStatuses.suspended && say(' The webhook is suspended: until it is reactivated nothing is sent.', ' O webhook está suspenso: até ser reativado nada é enviado.')}</p>
<pre>POST ${url}
${headers.map(([name, value]) => `${name}: ${value}\n`)}</pre>
<details><summary>${say('As a command', 'Como comando')} <code>curl</code></summary>${copyButton(context, command)}<pre>${command}</pre></details></div>`,
  );
}

/** Returns the headers of an attempt, without what is secret or of its moment. */
function headersOf({ say }: Context, { id }: DeliveryView, { hasAuthorization }: WebhookView): Record<string, string> {
  return {
    ...(hasAuthorization && { authorization: say('<credential>', '<credencial>') }),
    accept: '*/*',
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'user-agent': say('Emissor/<version>', 'Emissor/<versão>'),
    'webhook-id': id,
    'webhook-timestamp': say('<seconds since 1970>', '<segundos desde 1970>'),
    'webhook-signature': say('v1,<signature>', 'v1,<assinatura>'),
  };
}

function copyButton({ texts }: Context, text: Html | string): Html {
  return html`<button type="button" class="copy" data-copy="${text}" hidden>${texts.copy}</button>`;
}

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function spanOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  if (seconds < 90) return `${seconds} s`;
  return seconds < 90 * 60 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
