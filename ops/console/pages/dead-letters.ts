import { createHash } from 'node:crypto';
import { isAccountId } from '../../../lambdas/auth/principals/account.ts';
import { isEventName } from '../../../lambdas/webhooks/webhook.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import type { LettersView, LetterView, RedriveView } from '../operator/dead-letters.ts';
import {
  type Answer,
  button,
  type Context,
  card,
  crumbs,
  exactTimeOf,
  facts,
  link,
  oneLine,
  type Parameters,
  pathOf,
  table,
  timeOf,
} from '../page.ts';
import { bodyQuestion, failureOf, label, operatorOf, question } from '../page-parts.ts';
import { NotThere, Refusal } from '../views.ts';
import { detailIn } from './letter-detail.ts';

/** The dead letters: what the service could not process, by reason, event and sender; or those of one group. */
export async function lettersPage(context: Context): Promise<Answer> {
  const { say, texts, source, query, folder } = context;
  const operator = operatorOf(context);
  if (isRunning(await operator.readRedrive())) return { location: redrivePath };
  const view = await operator.listLetters();
  const all = groupsOf(view.letters);
  const [chosen] = all.filter(({ key }) => key === query.get('group'));
  // What an address asks for may be gone since.
  const asked = Math.max(0, Number.parseInt(query.get('from') ?? '0', 10) || 0);
  const last = Math.floor(((chosen?.letters.length ?? 1) - 1) / mostOfOne) * mostOfOne;
  const from = Math.min(asked, last);
  const groups = chosen ? [chosen] : all.slice(0, mostGroups);
  const listed = groups.map(group =>
    groupCard(context, group, chosen ? { from, most: mostOfOne } : { from: 0, most: mostOf(groups.length) }),
  );
  const mayAct = source.mayChange && view.letters.length > 0;
  const left =
    !chosen &&
    all.length > groups.length &&
    html`<p class="lead">${say(`${groups.length} of ${all.length} groups are shown, the largest first.`, `${groups.length} de ${all.length} grupos são mostrados, os maiores primeiro.`)}</p>`;
  return {
    title: texts.deadLetters,
    isLive: false, // a look hides the letters from others
    content: html`${chosen && crumbs(context, [['/dead-letters', texts.deadLetters]])}<h1>${chosen ? nameOf(context, chosen.first) : texts.deadLetters}</h1>
${lookLine(context, view)}
${view.letters.length === 0 && html`<div class="card"><p class="empty">${emptyText(context, view)}</p></div>`}
${mayAct ? html`<form method="post" action="${folder}/dead-letters/ask-discard">${actionsOn(context, chosen)}${listed}${left}</form>` : [listed, left]}`,
  };
}

/** Shows the progress of a redrive. It holds the letters: nobody looks at them meanwhile. */
export async function redrivePage(context: Context): Promise<Answer> {
  const { say, texts } = context;
  const redrive = await operatorOf(context).readRedrive();
  if (!redrive) return { location: '/dead-letters' };
  return {
    title: say('Redrive', 'Devolução'),
    refreshSeconds: 2,
    content: html`${crumbs(context, [['/dead-letters', texts.deadLetters]])}<h1>${say('Redrive', 'Devolução')}</h1>${redriveCard(context, redrive)}`,
  };
}

/** A letter: why it is here, and what it names; its body is asked for by a POST, since each look is written down. */
export async function letterPage(context: Context, { id = '' }: Parameters): Promise<Answer> {
  return pageOf(context, await findLetter(context, id));
}

export async function letterBody(context: Context, { id = '' }: Parameters): Promise<Answer> {
  const letter = await findLetter(context, id);
  return pageOf(context, letter, await operatorOf(context).readLetter(id));
}

export async function askRedrive(context: Context, _: Parameters, form: URLSearchParams): Promise<Answer> {
  const { say } = context;
  await requireQueue(context);
  const { ids, isCutOff } = await tickedIn(context, form);
  return question(context, {
    title: say('Put these dead letters back on their queues?', 'Devolver estas mensagens às suas filas?'),
    means: html`${countOf(context, ids.length, isCutOff)} ${say('Those that cannot be processed now stay. Ten a second are moved.', 'As que não podem ser processadas agora ficam. São movidas dez por segundo.')}`,
    verb: say('Redrive', 'Devolver'),
    action: redrivePath,
    cancel: '/dead-letters',
    values: { ids: ids.join(' ') },
  });
}

export async function redrive(context: Context, _: Parameters, form: URLSearchParams): Promise<Answer> {
  const { startRedrive } = operatorOf(context);
  const ids = idsIn(form);
  if (ids.length === 0) throw new Refusal(noneTicked(context));
  if (!(await startRedrive(ids))) throw new Refusal(redriveRuns(context));
  return { location: redrivePath };
}

export async function cancelRedrive(context: Context): Promise<Answer> {
  await operatorOf(context).cancelRedrive();
  return { location: redrivePath };
}

export async function askDiscard(context: Context, _: Parameters, form: URLSearchParams): Promise<Answer> {
  const { say } = context;
  await requireQueue(context);
  const { ids, isCutOff } = await tickedIn(context, form);
  return question(context, {
    title: say('Discard these dead letters for good?', 'Descartar estas mensagens para sempre?'),
    means: html`${countOf(context, ids.length, isCutOff)} ${say('This cannot be undone.', 'Isto não pode ser desfeito.')}<details><summary>${say('Their ids', 'Os ids delas')}</summary>${ids.slice(0, 20).map(id => html`<div class="code">${id}</div>`)}${ids.length > 20 && '…'}</details>`,
    verb: say('Discard', 'Descartar'),
    kind: 'danger',
    action: '/dead-letters/discard',
    cancel: '/dead-letters',
    values: { ids: ids.join(' ') },
  });
}

export async function discard(context: Context, _: Parameters, form: URLSearchParams): Promise<Answer> {
  const { say } = context;
  await requireQueue(context);
  const ids = idsIn(form);
  if (ids.length === 0) throw new Refusal(noneTicked(context));
  const { discarded, missing, inFlight } = await operatorOf(context).discard(ids);
  const done = `${say('Discarded', 'Descartadas')}: ${discarded}.`;
  if (missing.length === 0) return { location: '/dead-letters', note: done };
  const others = inFlight > 0 ? ` ${othersLook(context, inFlight)}` : '';
  const gone = say(
    `Not found, and not discarded: ${missing.join(', ')}.`,
    `Não encontradas e não descartadas: ${missing.join(', ')}.`,
  );
  return { location: '/dead-letters', note: `${done} ${gone}${others}` };
}

interface Group {
  readonly key: string;
  readonly letters: readonly LetterView[];
  readonly first: LetterView;
}

/** Returns the letters by reason, event and sender, the largest group first. */
function groupsOf(letters: readonly LetterView[]): readonly Group[] {
  const found = new Map<string, [LetterView, ...LetterView[]]>();
  for (const letter of letters) {
    const key = keyOf(letter);
    const known = found.get(key);
    if (known) known.push(letter);
    else found.set(key, [letter]);
  }
  return [...found]
    .map(([key, [first, ...others]]) => ({ key, first, letters: [first, ...others] }))
    .toSorted((one, other) => other.letters.length - one.letters.length);
}

function keyOf({ reason, event, sender }: LetterView): string {
  return createHash('sha256')
    .update(JSON.stringify([reason, event, sender]))
    .digest('base64url')
    .slice(0, 16);
}

function groupCard(
  context: Context,
  { key, letters, first }: Group,
  { from, most }: { readonly from: number; readonly most: number },
): Html {
  const { say, texts, source } = context;
  const shown = letters.slice(from, from + most);
  const path = `/dead-letters?group=${key}`;
  const isOne = new Set(letters.map(({ detail }) => detail)).size === 1;
  const columns = [
    ...(source.mayChange
      ? [
          {
            heading: say('Tick', 'Marcar'),
            value: ({ id }: LetterView) => tick('id', id, id, say('Tick', 'Marcar')),
            isTick: true,
            isBrief: true,
          },
        ]
      : []),
    {
      heading: texts.sent,
      value: ({ sentAt }: LetterView) => timeOf(sentAt, context),
      isBrief: true,
    },
    { heading: texts.account, value: ({ account }: LetterView) => accountLink(context, account), isBrief: true },
    ...(isOne || first.reason === 'unknown_event'
      ? []
      : [{ heading: texts.detail, value: ({ detail }: LetterView) => detailIn(context, detail) }]),
    {
      heading: texts.id,
      value: ({ id, copies }: LetterView) =>
        html`${letterLink(context, id)}${copies > 1 && label(copiesText(context, copies), 'wait')}`,
    },
  ];
  const range = `${from + 1}–${from + shown.length} ${say('of', 'de')} ${letters.length}`;
  const isPaged = most >= mostOfOne;
  const pages = [
    isPaged && from > 0 && link(context, `${path}&from=${Math.max(0, from - most)}`, say('Before', 'Anteriores')),
    isPaged && from + most < letters.length && link(context, `${path}&from=${from + most}`, say('After', 'Seguintes')),
    !isPaged && letters.length > most && link(context, path, say('Show the whole group', 'Mostrar o grupo inteiro')),
  ].filter(way => way);
  const list = html`<div class="lines">${table(columns, shown, '')}</div>`;
  const listed =
    letters.length <= mostUnfolded
      ? list
      : html`<details${isPaged && html` open`}><summary>${say('Letters', 'Mensagens')} ${range}</summary>${list}</details>`;
  return html`<section class="card group"><header>${source.mayChange && tick('group', key, nameOf(context, first), say('Tick the group', 'Marcar o grupo'))}<h2>${letters.length} × ${reasonBadge(context, first)} ${first.event !== null && html`<code>event: ${JSON.stringify(first.event)}</code>`}</h2>
<p>${first.sender === null ? say('Moved by the queue', 'Movida pela fila') : html`${texts.sender} <code title="${first.sender}">${first.sender}</code>`}</p></header>
<p class="inside">${isOne && first.reason === 'malformed' ? detailIn(context, first.detail) : meaningOf(context, first)}</p>
${listed}${pages.length > 0 && html`<p class="inside">${pages}</p>`}</section>`;
}

/** Writes what is done to what is ticked, or to all that this page is about. */
function actionsOn({ say, folder }: Context, chosen: Group | undefined): Html {
  const redriveTo = html`formaction="${folder}/dead-letters/ask-redrive"`;
  return html`<div class="actions sticky"><button ${redriveTo}>${say('Redrive what is ticked', 'Devolver as marcadas')}</button><button class="danger">${say('Discard what is ticked', 'Descartar as marcadas')}</button><button name="all" value="${chosen?.key ?? 'yes'}" ${redriveTo}>${chosen ? say('Redrive this group', 'Devolver este grupo') : say('Redrive all', 'Devolver todas')}</button></div>`;
}

function tick(name: string, value: string, label: string, verb: string): Html {
  return html`<input type="checkbox" name="${name}" value="${value}" aria-label="${verb} ${label}">`;
}

function letterLink(context: Context, id: string): Html {
  return html`<span class="code">${link(context, `/dead-letters/${encodeURIComponent(id)}`, id)}</span>`;
}

function pageOf(context: Context, letter: LetterView, body?: string): Answer {
  const { say, texts } = context;
  const { id, reason, detail, sender, sentAt, account, event, copies } = letter;
  const path = `/dead-letters/${encodeURIComponent(id)}`;
  const asking = { fields: { id }, isQuestion: true };
  return {
    title: `${texts.deadLetters} ${id}`,
    isLive: false,
    content: html`${crumbs(context, [['/dead-letters', texts.deadLetters]])}<div class="heading"><div><h1>${nameOf(context, letter)}</h1>${oneLine(context, id)}</div>
<div class="actions">${reason === null && button(context, '/dead-letters/ask-redrive', say('Redrive', 'Devolver'), 'main', asking)}${button(context, '/dead-letters/ask-discard', say('Discard', 'Descartar'), 'danger', asking)}</div></div>
${card(
  say('Why it is here', 'Por que está aqui'),
  html`<p class="inside">${detail === null ? meaningOf(context, letter) : detailIn(context, detail)}</p>
${facts([
  [texts.account, accountLink(context, account)],
  [
    texts.event,
    event !== null && account !== null && isAccountId(account) && isEventName(event)
      ? link(context, pathOf({ account, event }), event)
      : event === null
        ? undefined
        : html`<code>${JSON.stringify(event)}</code>`,
  ],
  [
    texts.sender,
    sender === null ? say('moved by the queue', 'movida pela fila') : html`<span class="code">${sender}</span>`,
  ],
  [texts.sent, timeOf(sentAt, context)],
  ...(copies > 1 ? [[say('Copies', 'Cópias'), copiesText(context, copies)] as const] : []),
])}${reason !== null && html`<p class="inside">${say('What its publisher mends', 'O que o publicador corrige')}: ${link(context, '/docs/publishing', say('What is refused, and how to hear of it', 'O que é recusado (em inglês)'))}</p>`}`,
)}
${body === undefined ? bodyQuestion(context, path) : card(texts.body, html`<pre class="inside">${body}</pre>`)}`,
  };
}

function redriveCard(context: Context, { state, total, moved, kept, keptLetters, error }: RedriveView): Html {
  const { say, texts } = context;
  const said = {
    running: say('They are being put back.', 'Estão sendo devolvidas.'),
    cancelling: say('It ends after the letter that it is at.', 'Termina depois da mensagem atual.'),
    cancelled: say(
      'The redrive was cancelled. The others are as they were.',
      'A devolução foi cancelada. As outras estão como estavam.',
    ),
    done: say('The redrive has ended.', 'A devolução terminou.'),
    failed: html`${say('The redrive failed', 'A devolução falhou')}: ${failureOf(context, error).message}`,
  }[state];
  const moves = say(`${moved} of ${total} moved`, `${moved} de ${total} devolvidas`);
  const keeps = say(
    `, ${kept} kept, since they cannot be processed now`,
    `; ${kept} ficaram, pois não podem ser processadas agora`,
  );
  type Kept = (typeof keptLetters)[number];
  const columns = [
    { heading: texts.id, value: ({ messageId }: Kept) => letterLink(context, messageId), isBrief: true },
    { heading: texts.detail, value: ({ detail }: Kept) => detailIn(context, detail), isText: true },
  ];
  const shown = keptLetters.slice(0, mostOfOne);
  const listed = say(
    `${shown.length} of the ${kept} kept are listed.`,
    `${shown.length} das ${kept} que ficaram são listadas.`,
  );
  const rest = state === 'done' ? total - moved - kept : 0;
  const lacks = say(
    `, ${rest} not found: gone, or in the hands of others`,
    `; ${rest} não encontradas: já saíram, ou outros as consultam`,
  );
  return card(
    say('Progress', 'Andamento'),
    html`<div class="inside"><p role="status">${said} ${moves}${kept > 0 && keeps}${rest > 0 && lacks}.</p><progress max="${total}" value="${moved + kept}">${moved + kept}</progress></div>
${shown.length > 0 && html`<div class="lines">${table(columns, shown, '')}</div>`}${shown.length < keptLetters.length && html`<p class="inside">${listed}</p>`}
<div class="inside actions">${state === 'running' && button(context, '/dead-letters/cancel', say('Cancel the redrive', 'Cancelar a devolução'), 'danger')}${state !== 'running' && state !== 'cancelling' && link(context, '/dead-letters', say('Show what is left', 'Mostrar o que ficou'))}</div>`,
    { id: 'redrive' },
  );
}

function lookLine(context: Context, { letters, inFlight, at, isCutOff }: LettersView): Html {
  const { say } = context;
  const shared = say(
    'A look is shared for 30 s: it hides the letters from others meanwhile.',
    'Uma consulta vale por 30 s: enquanto dura, esconde as mensagens dos outros.',
  );
  return html`<p class="lead">${countOf(context, letters.length, isCutOff)} ${inFlight > 0 && letters.length > 0 && othersLook(context, inFlight)} ${say('Looked at', 'Consultado em')} ${exactTimeOf(at, context)}. ${shared}</p>`;
}

function emptyText(context: Context, { inFlight }: LettersView): string {
  if (inFlight > 0) return othersLook(context, inFlight);
  return context.say(
    'There are no dead letters. What the service cannot process comes here.',
    'Não há mensagens rejeitadas. O que o serviço não consegue processar vem para cá.',
  );
}

function othersLook({ say }: Context, inFlight: number): string {
  return say(
    `Others are looking at about ${inFlight}, which show again when they are done. Reload the page then.`,
    `Outros estão vendo cerca de ${inFlight}, que reaparecem quando eles terminarem. Recarregue a página depois.`,
  );
}

function countOf({ say }: Context, count: number, isCutOff: boolean): string {
  const more =
    isCutOff && say('There may be more: a look goes through 1,000.', 'Pode haver mais: uma consulta vê 1.000.');
  const counted =
    count === 1
      ? say('1 dead letter.', '1 mensagem rejeitada.')
      : say(`${count} dead letters.`, `${count} mensagens rejeitadas.`);
  return more ? `${counted} ${more}` : counted;
}

function copiesText({ say }: Context, copies: number): string {
  return say(`${copies} copies of one message`, `${copies} cópias de uma mensagem`);
}

function noneTicked({ say }: Context): string {
  return say('Nothing was ticked.', 'Nada foi marcado.');
}

function redriveRuns({ say }: Context): string {
  return say(
    'A redrive is running, and holds the letters: cancel it, or wait until it ends.',
    'Uma devolução está em curso e segura as mensagens: cancele-a ou espere o fim.',
  );
}

/** Names a letter by its reason and by what came. */
function nameOf({ say }: Context, { reason, event }: LetterView): string {
  const what = event === null ? say('a message without an event', 'uma mensagem sem evento') : `“${event}”`;
  return `${reasonText(say, reason)}: ${what}`;
}

function reasonBadge(context: Context, { reason }: LetterView): Html {
  return label(reasonText(context.say, reason), reason === null ? 'wait' : 'bad');
}

function reasonText(say: Context['say'], reason: LetterView['reason']): string {
  if (reason === 'malformed') return say('Malformed', 'Malformada');
  if (reason === 'unknown_event') return say('Unknown event', 'Evento desconhecido');
  return say('Received too often', 'Recebida vezes demais');
}

/** Says what a reason means where its details differ, or where there is none. */
function meaningOf({ say }: Context, { reason }: LetterView): string {
  if (reason === null)
    return say(
      'The service could not process it, though it was tried again and again. Redrive it when the cause is mended.',
      'O serviço não conseguiu processá-la, mesmo tentando muitas vezes. Devolva-a quando a causa estiver corrigida.',
    );
  if (reason === 'unknown_event') return say('There is no event of this name.', 'Não existe evento com este nome.');
  return say(
    'Only its publisher can mend it: discard it then.',
    'Só o publicador pode corrigi-la: depois, descarte-a.',
  );
}

function accountLink(context: Context, account: string | null): HtmlValue {
  if (account === null) return '–';
  return isAccountId(account)
    ? link(context, pathOf({ account }), account)
    : html`<code>${JSON.stringify(account)}</code>`;
}

async function findLetter(context: Context, id: string): Promise<LetterView> {
  await requireQueue(context);
  const { letters, inFlight, isCutOff } = await operatorOf(context).listLetters();
  const letter = letters.find(one => one.id === id);
  if (letter) return letter;
  const why = [
    isCutOff &&
      context.say(
        `It is not among the first 1,000: "ops dlq show ${id}" goes through all.`,
        `Não está entre as primeiras 1.000: "ops dlq show ${id}" percorre todas.`,
      ),
    inFlight > 0 && othersLook(context, inFlight),
  ].filter(said => said !== false);
  throw new NotThere(why.join(' ') || context.texts.notThere);
}

/** Returns the ids that were ticked, one by one or by their group, or all; and whether the look that found them was cut off. */
async function tickedIn(context: Context, form: URLSearchParams) {
  const all = form.get('all');
  const groups = new Set(all === null ? form.getAll('group') : [all]);
  const single = all === null ? form.getAll('id') : [];
  const view = all === null && groups.size === 0 ? undefined : await operatorOf(context).listLetters();
  const { letters = [], isCutOff = false } = view ?? {};
  const chosen = letters.filter(letter => all === 'yes' || groups.has(keyOf(letter))).map(({ id }) => id);
  const ids = [...new Set([...single, ...chosen])];
  if (ids.length === 0) throw new Refusal(noneTicked(context));
  return { ids, isCutOff };
}

function idsIn(form: URLSearchParams): readonly string[] {
  return (form.get('ids') ?? '').split(' ').filter(id => id !== '');
}

/** @throws {Refusal} while a redrive holds the letters. */
async function requireQueue(context: Context): Promise<void> {
  if (isRunning(await operatorOf(context).readRedrive())) throw new Refusal(redriveRuns(context));
}

function isRunning(redrive: RedriveView | undefined): boolean {
  return redrive?.state === 'running' || redrive?.state === 'cancelling';
}

const redrivePath = '/dead-letters/redrive';

/** The groups that one page shows, and the letters of each: a page stays under 100 kB whatever strangers name their events. */
const mostGroups = 20;

function mostOf(groups: number): number {
  return Math.max(2, Math.floor(60 / Math.max(1, groups)));
}

/** A larger group is folded. */
const mostUnfolded = 3;

/** The letters of a group on its own page. */
const mostOfOne = 60;
