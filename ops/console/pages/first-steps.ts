import { EVENT_NAMES } from '../../../lambdas/webhooks/webhook.ts';
import type { Source } from '../api-source.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import {
  type Answer,
  badge,
  button,
  type Context,
  facts,
  link,
  oneLine,
  type Page,
  type Parameters,
  pathOf,
  timeOf,
} from '../page.ts';
import { label } from '../page-parts.ts';
import type { Claims, DeliveryRow, WebhookView } from '../views.ts';

/** The way of a newcomer in four steps: a token, a webhook, a test, its delivery. Each step shows what is there, however it came. */
export async function firstStepsPage(context: Context, _: Parameters, values: URLSearchParams): Promise<Answer> {
  return pageOf(context, await readSteps(context, values.get('event')));
}

/** Has a test sent: only publishers may publish. */
export async function sendFirst(context: Context, _: Parameters, form: URLSearchParams): Promise<Answer> {
  const { source, say } = context;
  const event = form.get('event') ?? '';
  await source.test(event);
  return { location: `${path}?${new URLSearchParams({ event })}`, note: say('It is on its way.', 'Está a caminho.') };
}

/** Writes the way to the first steps while there is no webhook. */
export function wayToFirstSteps({ say, folder }: Context, webhooks: readonly WebhookView[]): HtmlValue {
  return (
    webhooks.length === 0 &&
    html`<section class="card"><div class="inside"><h2>${say('New here?', 'Primeira vez aqui?')}</h2><p>${say('Four steps lead from a token to a delivery, in two minutes and without a terminal.', 'Quatro passos levam de um token a uma entrega, em dois minutos e sem terminal.')}</p><a class="button main" href="${folder}${path}">${say('First steps', 'Primeiros passos')}</a></div></section>`
  );
}

interface Steps {
  readonly event: string;
  readonly claims: Claims;
  readonly webhook: WebhookView | undefined;
  readonly delivery: DeliveryRow | undefined;
  readonly isTaken: boolean;
}

async function readSteps({ source }: Context, asked: string | null): Promise<Steps> {
  const { webhooks } = await source.readAccount();
  const webhook = webhooks.find(({ event }) => event === asked) ?? webhooks[0];
  const event = webhook?.event ?? EVENT_NAMES[0];
  const page = webhook && (await source.listDeliveries({ event, limit: 1 }));
  const delivery = page?.deliveries[0];
  const claims = await source.login.claims();
  return { event, claims, webhook, delivery, isTaken: delivery?.state === 'entregue' };
}

function pageOf(context: Context, steps: Steps): Page {
  const { source, say, now } = context;
  const { event, webhook, delivery, isTaken } = steps;
  const isWaited = delivery !== undefined && !isTaken && now - Date.parse(delivery.createdAt) < 120_000;
  const title = say('First steps', 'Primeiros passos');
  const done = [true, webhook !== undefined, delivery !== undefined, isTaken];
  const next = done.indexOf(false) + 1;
  const commands = commandsOf(source.login, event);
  const all = [
    [say('A token', 'Um token'), tokenStep(context, steps), commands.token],
    [say('A webhook', 'Um webhook'), registerStep(context, steps, next), commands.register],
    [say('A test, sent', 'Um teste enviado'), sendStep(context, steps, next), commands.send],
    [say('The delivery', 'A entrega'), verifyStep(context, steps), commands.verify],
  ] as const;
  return {
    title,
    ...(isWaited && { refreshSeconds: 2 }),
    content: html`<h1>${title}</h1>
<p class="lead">${say('From a token to a delivery. Each step has a button, and the command that does the same.', 'De um token a uma entrega. Cada passo tem um botão e o comando que faz o mesmo.')}</p>
<ol class="steps">${all.map(([name, content, command], at) => html`<li class="card"><div id="step-${at + 1}" data-live><header class="${done[at] ? 'done' : at + 1 === next ? 'next' : ''}"><h2>${name}</h2>${done[at] && label(say('Done', 'Feito'), 'good')}</header><div class="inside">${content}</div></div>${commandOf(context, name, command)}</li>`)}</ol>`,
  };
}

function commandOf({ say, texts }: Context, name: string, command: string): Html {
  return html`<details class="inside"><summary>${say('The same with curl', 'O mesmo com curl')}</summary><pre class="command">${command}</pre><button type="button" class="copy" data-copy="${command}" aria-label="${texts.copy}: ${name}" hidden>${texts.copy}</button></details>`;
}

function tokenStep(context: Context, { claims }: Steps): HtmlValue {
  const { say } = context;
  return html`<p>${say('The panel is logged in. Its token stays in memory: what it says is shown.', 'O painel está conectado. O token fica na memória: mostra-se o que ele diz.')}</p>
${facts(Object.entries(claims).map(([name, value]) => [html`<code>${name}</code>`, claim(context, name, value)] as const))}`;
}

function claim(context: Context, name: string, value: unknown): HtmlValue {
  if (['exp', 'iat'].includes(name) && typeof value === 'number')
    return timeOf(new Date(value * 1_000).toISOString(), context);
  return html`<code>${typeof value === 'string' ? value : JSON.stringify(value)}</code>`;
}

function registerStep(context: Context, { event, webhook }: Steps, next: number): HtmlValue {
  const { source, say, folder } = context;
  if (webhook)
    return html`<p>${link(context, pathOf({ event }), event)} ${say('goes to', 'vai para')} <code>${webhook.url}</code> ${badge(context, webhook.status)}</p>`;
  const form = `${folder}/webhooks/new?${new URLSearchParams({ event })}`;
  return html`<p>${say('Your server gets each event of a name at one URL, by HTTPS.', 'O seu servidor recebe cada evento de um nome em uma URL, por HTTPS.')}</p>
${source.mayChange && html`<a class="button${next === 2 && ' main'}" href="${form}">${say('Register', 'Cadastrar')}</a>`}`;
}

function sendStep(context: Context, { event, webhook, delivery }: Steps, next: number): HtmlValue {
  const { say } = context;
  return html`<p>${say('A test is an event whose numbers are 0. It is delivered like any other.', 'Um teste é um evento cujos números são 0. É entregue como qualquer outro.')}</p>
${delivery && html`<p>${oneLine(context, delivery.id, link(context, pathOf(delivery), delivery.id))} ${timeOf(delivery.createdAt, context)}</p>`}
${webhook ? button(context, `${path}/send`, say('Send a test', 'Enviar um teste'), next === 3 ? 'main' : '', { event }) : needs(context, 2)}`;
}

function verifyStep(context: Context, { delivery, isTaken }: Steps): HtmlValue {
  const { say } = context;
  if (!delivery) return needs(context, 3);
  const own = link(context, pathOf(delivery), say('Look at the delivery', 'Ver a entrega'));
  const said = isTaken
    ? say(
        'Your server took it. Only your server knows whether the signature is right: it verifies before it answers.',
        'O seu servidor a aceitou. Só ele sabe se a assinatura confere: ele verifica antes de responder.',
      )
    : say('It is not there yet.', 'Ainda não chegou.');
  return html`<p>${badge(context, delivery.state)} ${said}</p><p>${own}</p>`;
}

function needs({ say }: Context, number: number): Html {
  return html`<p class="muted">${say(`Step ${number} comes first.`, `Antes vem o passo ${number}.`)}</p>`;
}

/** Returns the commands of the steps: placeholders replace the values that only the integrator knows. */
function commandsOf({ authUrl, baseUrl }: Source['login'], event: string) {
  const variable = 'EMISSOR_TOKEN';
  const bearer = `-H "Authorization: Bearer $${variable}"`;
  const body = JSON.stringify({ evento: event, url: 'https://hooks.example.com/emissor' });
  const token = `curl -s ${authUrl}/oauth/v1/token -d grant_type=password \\\n  -d client_id=CLIENT_ID -d client_secret=CLIENT_SECRET \\\n  --data-urlencode 'username=USERNAME' --data-urlencode 'password=PASSWORD'`;
  return {
    token: `${variable}=$(${token} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    register: `curl -s ${baseUrl}/v1/webhooks ${bearer} \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`,
    send: `curl -s -X POST ${baseUrl}/v1/webhooks/${event}/teste ${bearer}`,
    verify: `curl -s ${baseUrl}/v1/webhooks/${event}/entregas ${bearer}`,
  };
}

const path = '/first-steps';
