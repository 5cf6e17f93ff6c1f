import { isTest } from '../../../lambdas/delivery/delivery.ts';
import { EVENT_NAMES } from '../../../lambdas/webhooks/webhook.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import { onceField } from '../once.ts';
import {
  type Answer,
  button,
  type Context,
  card,
  crumbs,
  facts,
  link,
  type Parameters,
  pathOf,
  stepsTo,
  timeOf,
} from '../page.ts';
import { question, unreadPart } from '../page-parts.ts';
import { textFor } from '../texts.ts';
import { type DeliveryQuery, NotThere, Refusal, type WebhookView } from '../views.ts';

// What the owner of a webhook decides: its registration, its URL and authorization, its secret, its end.

/** Shows the form that registers a webhook, for one of the events that have none. */
export async function registerPage(context: Context, _: Parameters, values: URLSearchParams): Promise<Answer> {
  const asked = values.get('event');
  const registered = (await context.source.readAccount()).webhooks.map(({ event }) => event);
  if (asked !== null && registered.includes(asked)) return { location: `${pathOf({ event: asked })}/settings` };
  const free = EVENT_NAMES.filter(name => !registered.includes(name));
  return registrationForm(context, { event: asked, url: null, events: free });
}

/** Registers a webhook. The answer itself shows the secret. */
export async function register(context: Context, _: Parameters, form: URLSearchParams): Promise<Answer> {
  const { source, say } = context;
  const [event, url, authorization] = [form.get('event') ?? '', form.get('url') ?? '', form.get('authorization')];
  try {
    const secret = await source.register({ event, url, authorization: authorization || undefined });
    const done = say('The webhook is registered.', 'O webhook está cadastrado.');
    return secretPage(context, { event, secret }, done);
  } catch (error) {
    return registrationForm(context, { event, url, events: EVENT_NAMES }, reasonOf(error));
  }
}

/** Shows what the owner of a webhook decides: its URL and authorization, its secret, its end. */
export async function settingsPage(context: Context, { event = '' }: Parameters): Promise<Answer> {
  const webhook = await find(context, event);
  return settingsForms(context, webhook, webhook.url);
}

/** Replaces the URL and the authorization, which the API reads back to nobody: it is typed again, or removed. */
export async function change(context: Context, { event = '' }: Parameters, form: URLSearchParams): Promise<Answer> {
  const { source, say } = context;
  const webhook = await find(context, event);
  const [url, authorization] = [form.get('url') ?? '', form.get('authorization') || undefined];
  try {
    if (webhook.hasAuthorization && (authorization === undefined) !== form.has('remove')) {
      const either = say(
        'Type the header again, or tick that it is removed: one of the two.',
        'Digite o cabeçalho de novo ou marque que ele é removido: um dos dois.',
      );
      throw new Refusal(either, { autorizacao: either });
    }
    await source.change({ event, url, authorization });
  } catch (error) {
    return settingsForms(context, webhook, url, reasonOf(error));
  }
  return {
    location: pathOf({ event }),
    note: say('The webhook is changed.', 'O webhook foi alterado.'),
  };
}

export async function askRotate(
  context: Context,
  { event = '' }: Parameters,
  values: URLSearchParams,
): Promise<Answer> {
  const { say } = context;
  await find(context, event);
  const isImmediate = values.has('immediate');
  const path = pathOf({ event });
  const means = isImmediate
    ? say(
        'The secrets before the new one stop signing now: until your server has the new one, it refuses what we send. Do this where a secret leaked.',
        'Os segredos anteriores deixam de assinar agora: até o seu servidor ter o novo, ele recusa o que enviamos. Faça isto se um segredo vazou.',
      )
    : say(
        'Each delivery is signed with the new secret and, for 24 hours more, with the one before it.',
        'Cada entrega é assinada com o segredo novo e, por mais 24 horas, com o anterior.',
      );
  return question(context, {
    title: say(`Replace the secret of ${event}?`, `Trocar o segredo de ${event}?`),
    means: html`${means}<br>${say('The new one is shown once.', 'O novo aparece uma vez só.')}`,
    verb: isImmediate ? say('Replace it at once', 'Trocar de imediato') : say('Replace the secret', 'Trocar o segredo'),
    kind: isImmediate ? 'danger' : 'main',
    action: `${path}/rotate`,
    cancel: `${path}/settings`,
    values: isImmediate ? { immediate: 'yes' } : {},
  });
}

/** Makes a new secret. The answer itself shows it. */
export async function rotate(context: Context, { event = '' }: Parameters, form: URLSearchParams): Promise<Answer> {
  const { source, say } = context;
  const isImmediate = form.has('immediate');
  const secret = await source.rotate(event, isImmediate).catch(error => {
    if (error instanceof Refusal) throw error;
    throw new Error(`${reasonOf(error).message} ${mayBeReplaced(context, isImmediate)}`);
  });
  // Whatever else fails from here on, the secret is shown.
  const former = await source.findWebhook(event).then(
    webhook => formerSecrets(context, webhook?.formerSecretsUntil ?? []),
    error => unreadPart(context, reasonOf(error).message),
  );
  const done = say('The secret is replaced.', 'O segredo foi trocado.');
  return secretPage(context, { event, secret }, done, former);
}

/** Says that the secret may be another: a failure that is no refusal may have replaced it, and nobody has seen the new one. */
function mayBeReplaced({ say }: Context, isImmediate: boolean): string {
  return isImmediate
    ? say(
        'The secret may have been replaced all the same, and no former one signs then: replace it again.',
        'Mesmo assim, o segredo pode ter sido trocado, e então nenhum anterior assina mais: troque-o de novo.',
      )
    : say(
        'The secret may have been replaced all the same: the settings show until when a former one signs. If it was, replace it again before that ends.',
        'Mesmo assim, o segredo pode ter sido trocado: as configurações mostram até quando um anterior assina. Se foi trocado, troque-o de novo antes disso.',
      );
}

/** Asks before a webhook is deleted, with what would never be sent. */
export async function askRemove(context: Context, { event = '' }: Parameters): Promise<Answer> {
  const { say } = context;
  const { createdAt: since } = await find(context, event);
  const path = pathOf({ event });
  const lost = [
    ['pendente', say('They end as cancelled.', 'Terminam como canceladas.')],
    ['falhou', say('They can be sent again no more.', 'Não podem mais ser reenviadas.')],
    ['retida', say('They can be sent no more.', 'Não podem mais ser enviadas.')],
  ] as const;
  const counts = await Promise.all(lost.map(([state]) => countOf(context, { event, state, since })));
  return question(context, {
    title: say(`Delete the webhook of ${event}?`, `Excluir o webhook de ${event}?`),
    means: html`${say(
      'Its events are dropped from then on, and its secrets and authorization are gone. Its history stays.',
      'Os eventos passam a ser descartados, e os segredos e a autorização se perdem. O histórico fica.',
    )}<br>${lost.map(([state, means], at) => html`<br>${textFor(context.texts, 'word', state)}: <b>${counts[at]}</b>. ${means}`)}`,
    verb: say('Delete the webhook', 'Excluir o webhook'),
    kind: 'danger',
    action: `${path}/remove`,
    cancel: `${path}/settings`,
  });
}

export async function remove({ source, say }: Context, { event = '' }: Parameters): Promise<Answer> {
  await source.remove(event);
  return {
    location: '/',
    note: say(`The webhook of ${event} is deleted.`, `O webhook de ${event} foi excluído.`),
  };
}

async function find({ source, texts }: Context, event: string): Promise<WebhookView> {
  const webhook = await source.findWebhook(event);
  if (!webhook) throw new NotThere(texts.notThere);
  return webhook;
}

/** Counts deliveries by one call, without tests, which are not sent again; what cannot be counted is said. */
async function countOf({ source, say }: Context, choice: Omit<DeliveryQuery, 'limit'>): Promise<string> {
  try {
    const { deliveries, next } = await source.listDeliveries({ ...choice, limit: 100 });
    const count = deliveries.filter(delivery => !isTest(delivery)).length;
    return next === null ? String(count) : `${count} ${say('or more', 'ou mais')}`;
  } catch {
    return say('could not be counted', 'não foi possível contar');
  }
}

/** Why a form failed. */
type Reason = Pick<Refusal, 'message' | 'findings'>;

/** Returns why a form failed, whatever it was: what was typed is shown again. */
function reasonOf(error: unknown): Reason {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof Refusal ? error : { message, findings: {} };
}

function registrationForm(
  context: Context,
  {
    event,
    url,
    events,
  }: { readonly event: string | null; readonly url: string | null; readonly events: readonly string[] },
  failure?: Reason,
): Answer {
  const { say, texts, folder } = context;
  const title = say('Register a webhook', 'Cadastrar um webhook');
  const names = event === null || events.includes(event) ? events : [event, ...events];
  return formPage(
    title,
    html`${crumbs(context, stepsTo(context))}<h1>${title}</h1>
<p class="lead">${say(
      'What comes for the event from now on is sent to the URL. Earlier events are not.',
      'O que chegar para o evento a partir de agora é enviado à URL. Os eventos anteriores, não.',
    )}</p>${failureNote(context, failure, event ?? undefined)}
<form class="card inside settings" method="post" action="${folder}/webhooks/new" novalidate>${onceField()}
${field(
  { name: 'event', label: texts.event, why: failure?.findings.evento },
  marks =>
    html`<select name="event"${marks}>${names.map(name => html`<option${name === event && html` selected`}>${name}</option>`)}</select>`,
)}${urlField(context, url, failure)}${authorizationField(context, failure)}
<div class="actions"><button class="main">${say('Register', 'Cadastrar')}</button><a class="button" href="${folder}/">${texts.cancel}</a></div></form>`,
    failure,
  );
}

function settingsForms(context: Context, webhook: WebhookView, url: string | null, failure?: Reason): Answer {
  const { say, texts, folder } = context;
  const { event, hasAuthorization } = webhook;
  const path = pathOf({ event });
  const title = say(`Settings of ${event}`, `Configurações de ${event}`);
  return formPage(
    title,
    html`${crumbs(context, stepsTo(context, event))}<h1>${title}</h1>
<p class="lead">${say(
      'A change holds from the next attempt on, for deliveries that wait, too.',
      'Uma mudança vale a partir da próxima tentativa, também para entregas que esperam.',
    )}</p>${failureNote(context, failure)}
${card(
  say('Receiver', 'Receptor'),
  html`<form class="inside settings" method="post" action="${folder}${path}/settings" novalidate>${onceField()}
${urlField(context, url, failure)}${authorizationField(context, failure, hasAuthorization)}
<div class="actions"><button class="main">${say('Save', 'Salvar')}</button><a class="button" href="${folder}${path}">${texts.cancel}</a></div></form>`,
)}
${card(
  say('Signing secret', 'Segredo de assinatura'),
  html`${formerSecrets(context, webhook.formerSecretsUntil)}<div class="inside actions"><a class="button" href="${folder}${path}/rotate">${say('Replace the secret', 'Trocar o segredo')}</a>
<a class="button danger" href="${folder}${path}/rotate?immediate=yes">${say('Replace it at once', 'Trocar de imediato')}</a></div>`,
)}
${card(
  say('Delete', 'Excluir'),
  html`<p class="inside muted">${say('A question comes first, with the number of deliveries that would be lost.', 'Antes vem uma pergunta, com o número de entregas que se perderiam.')}</p><div class="inside actions"><a class="button danger" href="${folder}${path}/remove">${say('Delete the webhook', 'Excluir o webhook')}</a></div>`,
)}`,
    failure,
  );
}

/** A page with a form: what is typed there must not be lost by a renewal. What is no refusal may have been done. */
function formPage(title: string, content: Html, failure: Reason | undefined): Answer {
  return { title, content, isLive: false, ...(failure && { status: failure instanceof Refusal ? 422 : 502 }) };
}

/** The one page that shows a secret. It is an answer to a form that acts once, so that nothing shows it again. */
function secretPage(
  context: Context,
  { event, secret }: { readonly event: string; readonly secret: string },
  done: string,
  former?: HtmlValue,
): Answer {
  const { say, folder } = context;
  const path = pathOf({ event });
  return {
    title: `${say('Signing secret', 'Segredo de assinatura')} · ${event}`,
    isLive: false,
    content: html`${crumbs(context, stepsTo(context, event))}<h1>${event}</h1>
<p class="note" role="status">${done}</p>
${card(
  say('Signing secret', 'Segredo de assinatura'),
  html`<div class="inside"><p><b>${say('It is shown on this page only.', 'Ele aparece só nesta página.')}</b> ${say(
    'Keep it as you keep a password: with it your server verifies the signature of each delivery.',
    'Guarde-o como uma senha: com ele o seu servidor verifica a assinatura de cada entrega.',
  )}</p><div class="actions"><code class="secret">${secret}</code><button type="button" class="copy large" data-copy="${secret}" hidden>${say('Copy the secret', 'Copiar o segredo')}</button></div></div>${former}`,
)}
<div class="actions"><a class="button main" href="${folder}${path}">${say('Open the webhook', 'Abrir o webhook')}</a>${button(context, `${path}/test`, say('Send a test', 'Enviar um teste'))}</div>`,
  };
}

function formerSecrets(context: Context, until: readonly string[]): Html {
  const { say } = context;
  const ends = until.map(
    end => [say('A former secret signs until', 'Um segredo anterior assina até'), timeOf(end, context)] as const,
  );
  const none = [
    say('Former secrets', 'Segredos anteriores'),
    say('none signs any more', 'nenhum assina mais'),
  ] as const;
  return facts(ends.length > 0 ? ends : [none]);
}

/** Says why a form failed, unless that stands beside its fields; with the webhook that may be there already. */
function failureNote(context: Context, failure: Reason | undefined, event?: string): HtmlValue {
  const { say } = context;
  if (!failure) return null;
  const places = Object.keys(failure.findings);
  const isBeside = places.length > 0 && places.every(place => ['evento', 'url', 'autorizacao'].includes(place));
  return html`<p class="note trouble" role="alert">${
    isBeside
      ? say(
          'Nothing was changed. What is wrong stands beside each field.',
          'Nada foi alterado. O que está errado está junto de cada campo.',
        )
      : html`${failure.message}${event && html`<br>${link(context, pathOf({ event }), event)}`}`
  }</p>`;
}

function urlField({ say }: Context, url: string | null, failure: Reason | undefined): Html {
  const hint = say(
    'https, port 443 or from 1024 up, a host that is public.',
    'https, porta 443 ou a partir de 1024, um host público.',
  );
  return field(
    { name: 'url', label: 'URL', hint, why: failure?.findings.url },
    marks => html`<input name="url" type="url" value="${url}" autocomplete="off" spellcheck="false" required${marks}>`,
  );
}

function authorizationField(context: Context, failure: Reason | undefined, isSet = false): Html {
  const { say } = context;
  const hint = isSet
    ? say(
        'A header is set. It cannot be read back, and a change sets it anew, so that another server never gets it unseen.',
        'Há um cabeçalho definido. Ele não pode ser lido, e uma mudança o define de novo, para que outro servidor nunca o receba sem que você veja.',
      )
    : say(
        'Optional. Sent with each delivery, and never shown again.',
        'Opcional. Enviado com cada entrega e nunca mais mostrado.',
      );
  return html`${field(
    {
      name: 'authorization',
      label: say('Authorization header', 'Cabeçalho Authorization'),
      hint,
      why: failure?.findings.autorizacao,
    },
    marks => html`<input name="authorization" type="password" autocomplete="off" spellcheck="false"${marks}>`,
  )}${isSet && html`<label class="tick"><input type="checkbox" name="remove" value="yes">${say('Remove the header', 'Remover o cabeçalho')}</label>`}`;
}

/** Writes a field with its hint, and beside it what is wrong. */
function field(
  {
    name,
    label,
    hint,
    why,
  }: { readonly name: string; readonly label: string; readonly hint?: string; readonly why?: string | undefined },
  control: (marks: Html) => Html,
): Html {
  const described = [hint && `${name}-hint`, why && `${name}-wrong`].filter(id => id).join(' ');
  const marks = html` id="${name}"${described && html` aria-describedby="${described}"`}${why && html` aria-invalid="true"`}`;
  return html`<div class="field"><label for="${name}">${label}</label>${control(marks)}${hint && html`<p class="muted" id="${name}-hint">${hint}</p>`}${why && html`<p class="wrong" id="${name}-wrong">${why}</p>`}</div>`;
}
