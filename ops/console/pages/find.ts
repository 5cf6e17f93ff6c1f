import { type Html, html } from '../html.ts';
import { type Answer, badge, type Context, card, link, type Parameters, pathOf, table } from '../page.ts';
import { Refusal } from '../views.ts';

/** The search: by any id, or by what the publisher of an event knows of it. */
export async function findPage(context: Context, _: Parameters, values: URLSearchParams): Promise<Answer> {
  const { source, texts, folder } = context;
  const field = (name: string, label: string, isRequired = false) =>
    html`<label>${label}<input name="${name}" value="${values.get(name)}" maxlength="300" autocomplete="off"${isRequired && html` required`}></label>`;
  const id = values.get('id')?.trim();
  return {
    title: texts.find,
    isLive: false,
    content: html`<h1>${texts.find}</h1>${source.operator && html`<p class="lead">${texts.findLead}</p>`}
<form class="row card inside" method="get" action="${folder}/find">${field('id', texts.anyId, true)}
${source.operator && html`${field('account', `${texts.account} (${texts.optional})`)}`}${field('event', source.operator ? `${texts.event} (${texts.optional})` : texts.event, !source.operator)}
<button class="main">${texts.search}</button></form>${id && (await found(context, id, values))}`,
  };
}

async function found(context: Context, id: string, values: URLSearchParams): Promise<Html> {
  const { source, texts } = context;
  const [account, event] = [values.get('account')?.trim() || undefined, values.get('event')?.trim() || undefined];
  if (!source.operator) {
    const reference = { account: source.account ?? '', event: event ?? '', id };
    if (!(await source.findDelivery(reference))) throw new Refusal(texts.notThere);
    return card(texts.delivery, html`<p class="inside code">${link(context, pathOf(reference), id)}</p>`);
  }
  if ((account === undefined) !== (event === undefined)) throw new Refusal(texts.findLead);
  if (account === undefined && !/^(?:evt_|teste_|[0-9a-f]{8}-[0-9a-f]{4}-)/.test(id)) {
    const lines = await source.operator.findRequest(id);
    const columns = [
      { heading: texts.sent, value: ({ at }: { readonly at: string }) => html`<span class="code">${at}</span>` },
      { heading: texts.request, value: ({ text }: { readonly text: string }) => html`<pre>${text}</pre>` },
    ];
    return card(texts.request, table(columns, lines, texts.noLines));
  }
  const { verdict, why, delivery, searchedSince } = await source.operator.findEvent({ id, account, event });
  return card(
    badge(context, verdict),
    html`<div class="inside">${why}${delivery && html`<p class="code">${link(context, pathOf(delivery), delivery.id)}</p>`}</div>`,
    { beside: searchedSince !== undefined && html`<p>${texts.lookedSince} ${searchedSince}</p>` },
  );
}
