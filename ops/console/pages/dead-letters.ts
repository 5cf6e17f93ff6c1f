import { html } from '../html.ts';
import type { LetterView } from '../operator/dead-letters.ts';
import {
  type Answer,
  badge,
  type Context,
  card,
  crumbs,
  facts,
  link,
  type Parameters,
  table,
  timeOf,
} from '../page.ts';
import { operatorOf, question } from '../page-parts.ts';
import { NotThere, Refusal } from '../views.ts';

/** The dead letters: what the service could not process, and why. */
export async function lettersPage(context: Context): Promise<Answer> {
  const { texts, folder, source } = context;
  const { letters, inFlight } = await operatorOf(context).listLetters();
  const columns = [
    ...(source.mayChange
      ? [
          {
            heading: texts.choose,
            value: ({ id }: LetterView) =>
              html`<input type="checkbox" name="id" value="${id}" aria-label="${texts.choose} ${id}">`,
          },
        ]
      : []),
    { heading: texts.sent, value: ({ sentAt }: LetterView) => timeOf(sentAt, context) },
    { heading: texts.reason, value: ({ reason }: LetterView) => badge(context, reason ?? '–') },
    { heading: texts.detail, value: ({ detail }: LetterView) => detail },
    { heading: texts.sender, value: ({ sender }: LetterView) => html`<span class="code">${sender}</span>` },
    {
      heading: texts.id,
      value: ({ id }: LetterView) =>
        html`<span class="code">${link(context, `/dead-letters/${encodeURIComponent(id)}`, id)}</span>`,
    },
  ];
  const list = card(texts.deadLetters, table(columns, letters, inFlight === 0 ? texts.noLetters : texts.lookedAt), {
    id: 'letters',
    beside: html`<p>${letters.length}${inFlight > 0 && html`, ${texts.inFlight} ${inFlight}`}</p>`,
  });
  return {
    title: texts.deadLetters,
    content: html`<h1>${texts.deadLetters}</h1>
${source.mayChange ? html`<form method="post" action="${folder}/dead-letters/ask-discard">${list}${letters.length > 0 && html`<div class="actions"><button class="danger">${texts.discard}</button><a class="button" href="${folder}/dead-letters/redrive">${texts.redrive}</a></div>`}</form>` : list}`,
  };
}

export async function letterPage(context: Context, { id = '' }: Parameters): Promise<Answer> {
  const { texts } = context;
  const { letter, inFlight } = await operatorOf(context).findLetter(id);
  if (!letter)
    throw new NotThere(inFlight === 0 ? texts.notThere : `${texts.lookedAt} ${texts.inFlight}: ${inFlight}.`);
  return {
    title: `${texts.deadLetters} ${id}`,
    content: html`${crumbs(context, [['/dead-letters', texts.deadLetters]])}<h1 class="code">${id}</h1>
${card(
  badge(context, letter.reason ?? '–'),
  facts([
    [texts.detail, letter.detail],
    [texts.sender, html`<span class="code">${letter.sender}</span>`],
    [texts.sent, timeOf(letter.sentAt, context)],
  ]),
)}
<p class="lead">${texts.bodyAudited} <code>npm run ops -- dlq show ${id}</code></p>`,
  };
}

export async function askRedrive(context: Context): Promise<Answer> {
  const { texts } = context;
  const { letters } = await operatorOf(context).listLetters();
  return question(context, {
    title: texts.askRedrive,
    means: html`${texts.deadLetters}: <b>${letters.length}</b><br>${texts.redriveMeans}`,
    verb: texts.redrive,
    action: '/dead-letters/redrive',
    cancel: '/dead-letters',
  });
}

export async function redrive(context: Context): Promise<Answer> {
  const { moved, kept } = await operatorOf(context).redrive();
  return { location: '/dead-letters', note: `${context.texts.doneRedrive} ${moved}, ${kept}` };
}

export async function askDiscard(context: Context, _: Parameters, form: URLSearchParams): Promise<Answer> {
  const { texts } = context;
  const ids = form.getAll('id');
  if (ids.length === 0) throw new Refusal(texts.noneTicked);
  const said = html`${texts.deadLetters}: <b>${ids.length}</b><br>${ids.slice(0, 20).map(id => html`<span class="code">${id}</span><br>`)}`;
  return question(context, {
    title: texts.askDiscard,
    means: said,
    verb: texts.discard,
    kind: 'danger',
    action: '/dead-letters/discard',
    cancel: '/dead-letters',
    values: { ids: ids.join(' ') },
  });
}

export async function discard(context: Context, _: Parameters, form: URLSearchParams): Promise<Answer> {
  const ids = (form.get('ids') ?? '').split(' ').filter(id => id !== '');
  if (ids.length === 0) throw new Refusal(context.texts.noneTicked);
  return { location: '/dead-letters', note: `${context.texts.doneDiscard} ${await operatorOf(context).discard(ids)}` };
}
