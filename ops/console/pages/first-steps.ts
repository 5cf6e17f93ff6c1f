import { businessEvents } from '../../../lambdas/delivery/intake/event-catalogue.ts';
import { EVENT_NAMES } from '../../../lambdas/webhooks/webhook.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import type { ReceivedView } from '../operator/sandbox.ts';
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
import { failureOf, label, unreadPart } from '../page-parts.ts';
import type { SandboxSource, Source } from '../source.ts';
import { type Claims, type DeliveryRow, NotThere, type WebhookView } from '../views.ts';
import { sandboxOf, sandboxPath } from './sandbox.ts';

/**
 * The way of a newcomer in four steps: a token, a webhook, an event, a verified delivery. On a local run it goes by the demo account and
 * the built-in receiver; an integrator goes it with its own login. Each step shows what is there, however it came.
 */
export async function firstStepsPage(context: Context, _: Parameters, values: URLSearchParams): Promise<Answer> {
  return pageOf(context, await readSteps(context, values.get('event')));
}

/** Shows the claims of a token. */
export async function takeToken(context: Context): Promise<Answer> {
  await context.source.operator?.sandbox?.demo.logIn();
  return { location: path };
}

/** Registers the webhook of the demo account. The answer is the only page that shows its secret. */
export async function registerFirst(context: Context, _: Parameters, form: URLSearchParams): Promise<Answer> {
  const event = form.get('event') ?? '';
  const secret = await sandboxOf(context).demo.register(event, demoReceiver);
  // Whatever else fails from here on, the secret is shown.
  const page = await readSteps(context, event).then(
    steps => pageOf(context, steps, secret),
    error => ({
      title: event,
      content: html`${secretNote(context, secret)}${unreadPart(context, failureOf(context, error).message)}`,
    }),
  );
  return { ...page, isLive: false };
}

/** Publishes a sample, or has a test sent, where only publishers may publish. */
export async function sendFirst(context: Context, _: Parameters, form: URLSearchParams): Promise<Answer> {
  const { source, say } = context;
  const event = form.get('event') ?? '';
  const sandbox = source.operator?.sandbox;
  if (sandbox) await sandbox.publish(event);
  else await source.test(source.account ?? '', event);
  return { location: `${path}?${new URLSearchParams({ event })}`, note: say('It is on its way.', 'Está a caminho.') };
}

/** Writes the way to the first steps while there is no webhook: of the demo account on a local run, or among those of an integrator. */
export async function wayToFirstSteps(context: Context, known?: readonly WebhookView[]): Promise<HtmlValue> {
  const { source, say, folder } = context;
  const demo = source.operator?.sandbox?.demo;
  // What cannot be read the page says elsewhere.
  const webhooks = demo ? await source.listWebhooks(demo.account).catch(() => undefined) : known;
  return (
    webhooks?.length === 0 &&
    html`<section class="card"><div class="inside"><h2>${say('New here?', 'Primeira vez aqui?')}</h2><p>${say('Four steps lead from a token to a verified delivery, in two minutes and without a terminal.', 'Quatro passos levam de um token a uma entrega verificada, em dois minutos e sem terminal.')}</p><a class="button main" href="${folder}${path}">${say('First steps', 'Primeiros passos')}</a></div></section>`
  );
}

interface Steps {
  readonly sandbox: SandboxSource | undefined;
  readonly account: string;
  readonly event: string;
  readonly claims: Claims | undefined;
  readonly webhook: WebhookView | undefined;
  readonly delivery: DeliveryRow | undefined;
  /** What the built-in receiver got of it. */
  readonly received: ReceivedView | undefined;
  readonly isVerified: boolean;
  readonly commands: Readonly<Record<'token' | 'register' | 'send' | 'verify', string>>;
}

async function readSteps(context: Context, asked: string | null): Promise<Steps> {
  const { source, texts } = context;
  const sandbox = source.operator?.sandbox;
  if (!sandbox && !source.login) throw new NotThere(texts.notFound);
  const account = sandbox?.demo.account ?? source.account ?? '';
  const all = await source.listWebhooks(account);
  const own = sandbox ? all.filter(({ address }) => address === new URL(demoReceiver).host) : all;
  const webhook = own.find(({ event }) => event === asked) ?? own[0];
  const free = EVENT_NAMES.find(name => all.every(({ event }) => event !== name));
  const event = webhook?.event ?? free ?? EVENT_NAMES[0];
  const page = webhook && (await source.listDeliveries({ account, event, limit: 1 }));
  const delivery = page?.deliveries[0];
  const list = delivery && (await sandbox?.list());
  const received = list?.received.find(({ id }) => id === delivery?.id);
  return {
    sandbox,
    account,
    event,
    claims: await (sandbox?.demo ?? source.login)?.claims(),
    webhook,
    delivery,
    received,
    isVerified: sandbox ? received?.verdict === 'verified' : delivery?.state === 'entregue',
    commands: sandbox ? await demoCommands(sandbox, event) : integratorCommands(source.login, event),
  };
}

function pageOf(context: Context, steps: Steps, secret?: string): Page {
  const { say, now } = context;
  const { sandbox, claims, webhook, delivery, isVerified } = steps;
  const isWaited = delivery !== undefined && !isVerified && now - Date.parse(delivery.createdAt) < 120_000;
  const title = say('First steps', 'Primeiros passos');
  const done = [claims !== undefined, webhook !== undefined, delivery !== undefined, isVerified];
  const next = done.indexOf(false) + 1;
  const all = [
    [say('A token', 'Um token'), tokenStep(context, steps, next), steps.commands.token],
    [say('A webhook', 'Um webhook'), registerStep(context, steps, next, secret), steps.commands.register],
    [
      sandbox ? say('A sample, published', 'Um exemplo publicado') : say('A test, sent', 'Um teste enviado'),
      sendStep(context, steps, next),
      steps.commands.send,
    ],
    [say('The delivery, verified', 'A entrega verificada'), verifyStep(context, steps), steps.commands.verify],
  ] as const;
  return {
    title,
    ...((sandbox || isWaited) && { refreshSeconds: 2 }),
    content: html`<h1>${title}</h1>
<p class="lead">${say('From a token to a verified delivery. Each step has a button, and the command that does the same.', 'De um token a uma entrega verificada. Cada passo tem um botão e o comando que faz o mesmo.')}</p>
<ol class="steps">${all.map(([name, content, command], at) => html`<li class="card"><div id="step-${at + 1}" data-live><header class="${done[at] ? 'done' : at + 1 === next ? 'next' : ''}"><h2>${name}</h2>${done[at] && label(say('Done', 'Feito'), 'good')}</header><div class="inside">${content}</div></div>${commandOf(context, name, command)}</li>`)}</ol>`,
  };
}

function commandOf({ say, texts }: Context, name: string, command: string): Html {
  return html`<details class="inside"><summary>${say('The same with curl', 'O mesmo com curl')}</summary><pre class="command">${command}</pre><button type="button" class="copy" data-copy="${command}" aria-label="${texts.copy}: ${name}" hidden>${texts.copy}</button></details>`;
}

function tokenStep(context: Context, { sandbox, claims }: Steps, next: number): HtmlValue {
  const { say } = context;
  return html`<p>${sandbox ? say('The demo client logs its admin in. The token is not kept: what it says is shown.', 'O cliente de demonstração faz o login do administrador. O token não é guardado: mostra-se o que ele diz.') : say('The panel is logged in. Its token stays in memory: what it says is shown.', 'O painel está conectado. O token fica na memória: mostra-se o que ele diz.')}</p>
${claims && facts(Object.entries(claims).map(([name, value]) => [html`<code>${name}</code>`, claim(context, name, value)] as const))}
${sandbox && button(context, `${path}/token`, say('Get a token', 'Obter um token'), next === 1 ? 'main' : '')}`;
}

function claim(context: Context, name: string, value: unknown): HtmlValue {
  if (['exp', 'iat'].includes(name) && typeof value === 'number')
    return timeOf(new Date(value * 1_000).toISOString(), context);
  return html`<code>${typeof value === 'string' ? value : JSON.stringify(value)}</code>`;
}

function registerStep(context: Context, steps: Steps, next: number, secret: string | undefined): HtmlValue {
  const { say } = context;
  const { sandbox, account, event, webhook } = steps;
  const told = webhook
    ? html`<p>${link(context, pathOf({ account, event }), event)} ${say('goes to', 'vai para')} <code>${sandbox ? demoReceiver : webhook.address}</code> ${badge(context, webhook.status)}</p>`
    : sandbox
      ? html`<p><code>${event}</code> ${say('will go to the receiver of this run,', 'vai para o receptor desta execução,')} <code>${demoReceiver}</code></p>`
      : html`<p>${say('Your server gets each event of a name at one URL, by HTTPS.', 'O seu servidor recebe cada evento de um nome em uma URL, por HTTPS.')}</p>`;
  return html`${told}${secret !== undefined && secretNote(context, secret)}
${!webhook && registration(context, steps, next === 2)}`;
}

function secretNote(context: Context, secret: string): Html {
  const { say } = context;
  return html`<div class="note"><p>${say('Its signing secret, shown this once and kept nowhere in this page:', 'O segredo de assinatura, mostrado só desta vez e não guardado por esta página:')}</p>${oneLine(context, secret)}</div>`;
}

function registration(context: Context, { sandbox, account, event }: Steps, isMain: boolean): HtmlValue {
  const { source, say, folder } = context;
  const verb = say('Register', 'Cadastrar');
  if (sandbox) return button(context, `${path}/register`, verb, isMain ? 'main' : '', { fields: { event } });
  const form = `${folder}${pathOf({ account })}/webhooks/new?${new URLSearchParams({ event })}`;
  return source.mayChange && html`<a class="button${isMain && ' main'}" href="${form}">${verb}</a>`;
}

function sendStep(context: Context, { sandbox, account, event, webhook, delivery }: Steps, next: number): HtmlValue {
  const { say } = context;
  const verb = sandbox ? say('Publish a sample', 'Publicar um exemplo') : say('Send a test', 'Enviar um teste');
  return html`<p>${sandbox ? html`${say('An internal service puts an event on the queue:', 'Um serviço interno põe um evento na fila:')} <code>${event}</code>.` : say('A test is an event whose numbers are 0. It is delivered like any other.', 'Um teste é um evento cujos números são 0. É entregue como qualquer outro.')}</p>
${delivery && html`<p>${oneLine(context, delivery.id, link(context, pathOf({ account, event, id: delivery.id }), delivery.id))} ${timeOf(delivery.createdAt, context)}</p>`}
${webhook ? button(context, `${path}/send`, verb, next === 3 ? 'main' : '', { fields: { event } }) : needs(context, 2)}`;
}

function verifyStep(context: Context, { sandbox, account, event, delivery, received, isVerified }: Steps): HtmlValue {
  const { say } = context;
  if (!delivery) return needs(context, 3);
  const own = link(context, pathOf({ account, event, id: delivery.id }), say('Look at the delivery', 'Ver a entrega'));
  const shown =
    received &&
    link(context, sandboxPath(received), say('Look at what the receiver got', 'Ver o que o receptor recebeu'));
  const said = isVerified
    ? sandbox
      ? say(
          'The receiver got it, and its signature was made with the secret of this webhook.',
          'O receptor a recebeu, e a assinatura foi feita com o segredo deste webhook.',
        )
      : say(
          'Your server took it. That the signature is right only your server can tell: it verifies before it answers.',
          'O seu servidor a aceitou. Só ele sabe se a assinatura confere: ele verifica antes de responder.',
        )
    : say('It is not there yet.', 'Ainda não chegou.');
  return html`<p>${badge(context, delivery.state)} ${said}</p><p>${own} ${shown && html` · ${shown}`}</p>`;
}

function needs({ say }: Context, number: number): Html {
  return html`<p class="muted">${say(`Step ${number} comes first.`, `Antes vem o passo ${number}.`)}</p>`;
}

/** The commands of a local run, with its own values: each can be pasted into a shell. */
async function demoCommands({ demo }: SandboxSource, event: string): Promise<Steps['commands']> {
  const { authUrl, baseUrl, clientId, clientSecret, username, password } = await demo.login();
  const { endpoint, url } = await demo.queue();
  const token = tokenCommand(authUrl, [clientId, clientSecret, username, password]);
  const take = `${taking('TOKEN', token)}\n`;
  const name = EVENT_NAMES.find(known => known === event) ?? EVENT_NAMES[0];
  const message = businessEvents.message(name, { id_conta: demo.account }, businessEvents.exampleValues);
  const sent = JSON.stringify({ QueueUrl: url, MessageGroupId: demo.account, MessageBody: JSON.stringify(message) });
  return {
    token,
    register: take + registerCommand(baseUrl, 'TOKEN', { evento: event, url: demoReceiver }),
    send: `curl -s ${endpoint} -H 'X-Amz-Target: AmazonSQS.SendMessage' \\\n  -H 'Content-Type: application/x-amz-json-1.0' \\\n  -d '${sent}'`,
    verify: take + deliveriesCommand(baseUrl, 'TOKEN', event),
  };
}

/** The commands of an integrator: placeholders stand for what only it knows. */
function integratorCommands({ authUrl = '', baseUrl = '' }: Partial<NonNullable<Source['login']>> = {}, event: string) {
  const variable = 'EMISSOR_TOKEN';
  return {
    token: taking(variable, tokenCommand(authUrl, ['CLIENT_ID', 'CLIENT_SECRET', 'USERNAME', 'PASSWORD'])),
    register: registerCommand(baseUrl, variable, { evento: event, url: 'https://hooks.example.com/emissor' }),
    send: `curl -s -X POST ${baseUrl}/v1/webhooks/${event}/teste -H "Authorization: Bearer $${variable}"`,
    verify: deliveriesCommand(baseUrl, variable, event),
  };
}

/** Puts the access token that a command prints into a variable of the shell. */
function taking(variable: string, command: string): string {
  return `${variable}=$(${command} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`;
}

function tokenCommand(authUrl: string, [id, secret, username, password]: readonly string[]): string {
  return `curl -s ${authUrl}/oauth/v1/token -d grant_type=password \\\n  -d client_id=${id} -d client_secret=${secret} \\\n  --data-urlencode 'username=${username}' --data-urlencode 'password=${password}'`;
}

function registerCommand(baseUrl: string, variable: string, body: object): string {
  return `curl -s ${baseUrl}/v1/webhooks -H "Authorization: Bearer $${variable}" \\\n  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body)}'`;
}

function deliveriesCommand(baseUrl: string, variable: string, event: string): string {
  return `curl -s ${baseUrl}/v1/webhooks/${event}/entregas -H "Authorization: Bearer $${variable}"`;
}

const path = '/first-steps';

/** The receiver of a local run. */
const demoReceiver = 'https://receiver.example.com/hooks';
