import { EVENT_NAMES } from '../../../lambdas/webhooks/webhook.ts';
import { type Html, html } from '../html.ts';
import { onceField } from '../once.ts';
import type { ReceivedView, Verdict } from '../operator/sandbox.ts';
import {
  type Answer,
  button,
  type Context,
  card,
  facts,
  link,
  oneLine,
  type Parameters,
  pathOf,
  timeOf,
} from '../page.ts';
import { inLines, label, operatorOf } from '../page-parts.ts';
import type { SandboxSource } from '../source.ts';
import { NotThere } from '../views.ts';

/** The sandbox of the local run: what its receiver got, one of it in full, and a sample to publish. */
export async function sandboxPage(context: Context): Promise<Answer> {
  const { say, texts, folder, query } = context;
  const { list, demo } = sandboxOf(context);
  const { received, count } = await list();
  const chosen = received.find(one => keyOf(one) === query.get('one')) ?? received[0];
  const beside = html`<p>${count > received.length ? say(`the latest ${received.length} of ${count}`, `as últimas ${received.length} de ${count}`) : count}</p>${count > 0 && button(context, '/sandbox/clear', say('Clear', 'Limpar'))}`;
  return {
    title: texts.sandbox,
    content: html`<h1>${texts.sandbox}</h1>
<p class="lead">${say('What https://receiver.example.com/… got, of every account. A sample goes to the webhook of', 'O que https://receiver.example.com/… recebeu, de todas as contas. Um exemplo vai para o webhook de')} ${link(context, pathOf({ account: demo.account }), demo.account)}. ${link(context, '/first-steps', say('First steps', 'Primeiros passos'))}</p>
<div class="card inside actions"><form class="row" method="post" action="${folder}/sandbox/publish">${onceField()}<label>${texts.event}<select name="event">${EVENT_NAMES.map(name => html`<option>${name}</option>`)}</select></label><button class="main">${say('Publish a sample', 'Publicar um exemplo')}</button></form></div>
<div class="sandbox">${card(texts.received, received.length === 0 ? emptyText(context) : html`<ul class="pick">${received.map(one => entry(context, one, one === chosen))}</ul>`, { id: 'received', beside })}
${chosen && detail(context, chosen)}</div>`,
  };
}

export async function publishSample(context: Context, _: Parameters, form: URLSearchParams): Promise<Answer> {
  await sandboxOf(context).publish(form.get('event') ?? '');
  return { location: '/sandbox', note: context.say('Published.', 'Publicado.') };
}

export async function clearSandbox(context: Context): Promise<Answer> {
  await sandboxOf(context).clear();
  return { location: '/sandbox', note: context.say('Cleared.', 'Limpo.') };
}

/** Returns the sandbox. @throws {Refusal} where there is none: on a stage, and for integrators. */
export function sandboxOf(context: Context): SandboxSource {
  const { sandbox } = operatorOf(context);
  if (!sandbox) throw new NotThere(context.texts.notFound);
  return sandbox;
}

/** Returns the page that shows a request of the receiver. */
export function sandboxPath(received: ReceivedView): string {
  return `/sandbox?${new URLSearchParams({ one: keyOf(received) })}`;
}

/** The same delivery may come again, at another time. */
function keyOf({ at, id }: ReceivedView): string {
  return `${at} ${id ?? ''}`;
}

function emptyText(context: Context): Html {
  const { say } = context;
  return html`<p class="empty">${say('Nothing yet.', 'Nada ainda.')} ${link(context, '/first-steps', say('The first steps', 'Os primeiros passos'))} ${say('lead from a token to a verified delivery.', 'levam de um token a uma entrega verificada.')}</p>`;
}

function entry(context: Context, received: ReceivedView, isChosen: boolean): Html {
  const { folder, texts } = context;
  const { event, account, method, path, at, status } = received;
  return html`<li><a href="${folder}${sandboxPath(received)}"${isChosen && html` aria-current="true"`}><b>${event ?? `${method} ${path.slice(0, 40)}`}</b>${signBadge(context, received)}<br>${account !== null && html`${texts.account} ${account} · `}${texts.answered} ${status} · ${timeOf(at, context)}</a></li>`;
}

function detail(context: Context, received: ReceivedView): Html {
  const { say, texts } = context;
  const { event, account, id, at, method, path, status, headers, body, verdict } = received;
  const isKnown = event !== null && account !== null && id !== null;
  return card(
    event ?? say('A request', 'Uma requisição'),
    html`<div class="inside"><p>${signBadge(context, received)} ${meaningOf(context, verdict)}</p>
<p class="muted">${say('The signature is the HMAC-SHA-256 of', 'A assinatura é o HMAC-SHA-256 de')} <code>webhook-id.webhook-timestamp.${say('body', 'corpo')}</code> ${say('under the secret behind', 'com o segredo depois de')} <code>whsec_</code>: ${link(context, '/docs/receiving', say('Verify the signature', 'Verificar a assinatura'))}.</p></div>
${facts([
  [texts.account, account !== null && link(context, pathOf({ account }), account)],
  [say('Came', 'Chegou'), timeOf(at, context)],
  [say('Answered', 'Respondido'), html`<span class="code">${status}</span>`],
  [say('Request', 'Requisição'), html`<span class="code">${method} ${path}</span>`],
])}<div class="inside">${id !== null && html`<p>${texts.delivery} ${isKnown ? oneLine(context, id, link(context, pathOf({ account, event, id }), id)) : oneLine(context, id)}</p>`}
<h3>${texts.body}</h3><pre>${inLines(body) ?? body}</pre>
<h3>${say('Headers', 'Cabeçalhos')}</h3><pre>${Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`)}</pre></div>`,
    {
      id: 'one',
      beside: html`<p>${say('the body in lines; the signature is of its bytes as they came', 'o corpo em linhas; a assinatura é dos bytes como vieram')}</p>`,
    },
  );
}

function signBadge(context: Context, { verdict }: ReceivedView): Html {
  const { say } = context;
  if (verdict === 'verified') return label(say('✓ Verified', '✓ Verificada'), 'good');
  if (verdict === 'wrong') return label(say('✗ Wrong', '✗ Errada'), 'bad');
  if (verdict === 'unsigned') return label(say('Not signed', 'Sem assinatura'));
  return label(say('Cannot be told', 'Não se sabe'), 'wait');
}

function meaningOf({ say }: Context, verdict: Verdict): string {
  const meanings: Readonly<Record<Verdict, string>> = {
    verified: say('It was made with a secret that this webhook has.', 'Foi feita com um segredo que este webhook tem.'),
    wrong: say(
      'No secret of this webhook makes it: it was signed with another one, or the body was changed on its way.',
      'Nenhum segredo deste webhook a produz: foi assinada com outro, ou o corpo mudou no caminho.',
    ),
    unsigned: say(
      'It has no webhook-id, webhook-timestamp or webhook-signature: it is no delivery.',
      'Não tem webhook-id, webhook-timestamp ou webhook-signature: não é uma entrega.',
    ),
    unknown: say(
      'There is no delivery with this webhook-id: it is past its time, or was never made here.',
      'Não há entrega com este webhook-id: já passou do prazo, ou nunca foi feita aqui.',
    ),
    deleted: say('Its webhook was deleted, and the secret with it.', 'O webhook foi excluído, e o segredo com ele.'),
    replaced: say(
      'Its webhook was deleted and registered anew, with another secret.',
      'O webhook foi excluído e cadastrado de novo, com outro segredo.',
    ),
    rotated: say(
      'The secret that signed it was rotated away since: all that the webhook has are newer.',
      'O segredo que a assinou foi trocado depois: todos os que o webhook tem são mais novos.',
    ),
    cut: say(
      'The receiver kept the first 16 KiB of the body only.',
      'O receptor guardou só os primeiros 16 KiB do corpo.',
    ),
  };
  return meanings[verdict];
}
