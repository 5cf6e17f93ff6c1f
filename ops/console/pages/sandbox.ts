import { EVENT_NAMES } from '../../../lambdas/webhooks/webhook.ts';
import { type Html, html } from '../html.ts';
import type { ReceivedView } from '../operator/sandbox.ts';
import { type Answer, button, type Context, card, link, type Parameters, pathOf } from '../page.ts';
import { operatorOf } from '../page-parts.ts';
import type { SandboxSource } from '../source.ts';
import { NotThere } from '../views.ts';

/** The sandbox of the local run: what its receiver got, and a sample to publish. */
export async function sandboxPage(context: Context): Promise<Answer> {
  const { texts, folder } = context;
  const sandbox = sandboxOf(context);
  const received = await sandbox.list();
  return {
    title: texts.sandbox,
    content: html`<h1>${texts.sandbox}</h1>
<div class="card inside actions"><form class="row" method="post" action="${folder}/sandbox/publish"><label>${texts.event}<select name="event">${EVENT_NAMES.map(name => html`<option>${name}</option>`)}</select></label><button class="main">${texts.publish}</button></form>
${button(context, '/sandbox/clear', texts.clear)} ${link(context, pathOf({ account: sandbox.account }), `${texts.account} ${sandbox.account}`)}</div>
<div id="received" data-live><h2>${texts.received}</h2>${received.length === 0 ? html`<p class="empty">${texts.nothingReceived}</p>` : received.map(one => receivedCard(context, sandbox, one))}</div>`,
  };
}

export async function publishSample(context: Context, _: Parameters, form: URLSearchParams): Promise<Answer> {
  await sandboxOf(context).publish(form.get('event') ?? '');
  return { location: '/sandbox', note: context.texts.donePublish };
}

export async function clearSandbox(context: Context): Promise<Answer> {
  await sandboxOf(context).clear();
  return { location: '/sandbox', note: context.texts.doneClear };
}

function receivedCard(context: Context, { account }: SandboxSource, received: ReceivedView): Html {
  const { texts } = context;
  const { event, id, at, method, path, status, signature, body } = received;
  const name = id && event ? link(context, pathOf({ account, event, id }), id) : id;
  return card(
    html`${event ?? '–'} · <span class="code">${name ?? '–'}</span>`,
    html`<pre class="inside">${body}</pre>`,
    {
      beside: html`<p>${at} · ${method} ${path} · ${texts.answered} ${status} · ${texts.signature}: ${signature}</p>`,
    },
  );
}

function sandboxOf(context: Context): SandboxSource {
  const { sandbox } = operatorOf(context);
  if (!sandbox) throw new NotThere(context.texts.notFound);
  return sandbox;
}
