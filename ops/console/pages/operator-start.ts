import { isUnread, type Part } from '../../stage/operator.ts';
import { placeOf } from '../../status/sentences.ts';
import { healthBadge, healthReason, healthTime } from '../health.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import type { StartView, TroubledWebhook } from '../operator/start.ts';
import type { Traffic } from '../operator/traffic.ts';
import { type Answer, type Context, card, facts, link, number, pathOf, table, timeOf } from '../page.ts';
import { inEnglish, tiles, unreadPart } from '../page-parts.ts';
import type { OperatorSource } from '../source.ts';
import { wayToFirstSteps } from './first-steps.ts';
import { problemList } from './problems.ts';

/** The operator's first page: what is wrong, the worst first, and how each part is, or why that could not be read. */
export async function operatorStart(context: Context, operator: OperatorSource): Promise<Answer> {
  const { texts, say, folder } = context;
  const start = await operator.readStart();
  const { queues, keys, users } = start;
  const way = await wayToFirstSteps(context);
  const accounts = new Set(
    [...start.troubled, ...start.undelivered].slice(0, 2 * mostRows).map(({ account }) => account),
  );
  const isOld = context.now - Date.parse(start.keptSince) > 15_000;
  const asOf = isOld && html`<p>${say('read', 'lido')} ${timeOf(start.keptSince, context)}</p>`;
  return {
    title: texts.start,
    content: html`<div class="heading"><h1>${texts.start}</h1>
<form class="row" method="get" action="${folder}/accounts"><label>${say('Open an account', 'Abrir uma conta')}<input name="account" required maxlength="64" autocomplete="off" list="accounts"></label><button>${say('Open', 'Abrir')}</button>
<datalist id="accounts">${[...accounts].map(account => html`<option value="${account}"></option>`)}</datalist></form></div>${start.problems.length === 0 && way}
${card(say('What needs you', 'O que precisa de você'), needs(context, start), { id: 'needs' })}${start.problems.length > 0 && way}
<section id="traffic" data-live><header><h2>${say('The last 24 hours', 'As últimas 24 horas')}</h2><p class="muted">${say('deliveries of the whole stage, by the hour', 'entregas do ambiente inteiro, por hora')}</p></header>
${isUnread(start.traffic) ? unreadPart(context, start.traffic.unread) : trafficTiles(context, start.traffic)}</section>
${card(say('Webhooks that need a look', 'Webhooks que pedem atenção'), troubledCard(context, start), { id: 'troubled', beside: cut(context, start.troubled.length) })}
${card(say('Failed and held', 'Falharam ou estão retidas'), undeliveredCard(context, start), { id: 'undelivered', beside: [cut(context, start.undelivered.length), asOf] })}
<div class="two">${card(
      say('Queues', 'Filas'),
      ifRead(context, queues, found => queueTable(context, found)),
      { id: 'queues' },
    )}
${card(
  say('Keys', 'Chaves'),
  ifRead(context, keys, found => keyTable(context, found)),
  { id: 'keys', beside: asOf },
)}
${card(texts.alarms, alarmCard(context, start), { id: 'alarms' })}
${card(
  say('Users being deleted', 'Usuários em exclusão'),
  ifRead(context, users, found => userTable(context, found)),
  { id: 'users', beside: [!isUnread(users) && cut(context, users.beingDeleted.length), asOf] },
)}</div>
${start.stage && card(say('What is deployed', 'O que está implantado'), stageFacts(context, start.stage), { id: 'stage', beside: asOf })}
<p class="lead">${say('Clients, users, sessions and keys are managed at the terminal, since they show secrets. Copy the command:', 'Clientes, usuários, sessões e chaves são administrados no terminal, pois mostram segredos. Copie o comando:')} <code>npm run ops -- --help</code></p>`,
  };
}

/** Writes a part, or why it could not be read. */
function ifRead<Value>(context: Context, part: Part<Value>, write: (value: Value) => HtmlValue): HtmlValue {
  return isUnread(part) ? html`<div class="inside">${unreadPart(context, part.unread)}</div>` : write(part);
}

function needs(context: Context, { problems, unreadParts, cutOffParts }: StartView): HtmlValue {
  const { say } = context;
  const unread = say(
    `Parts that could not be read: ${unreadParts}. Each says so below.`,
    `Partes que não puderam ser lidas: ${unreadParts}. Cada uma o diz abaixo.`,
  );
  const partial = say(
    `Parts of which the first was looked at: ${cutOffParts}.`,
    `Partes das quais se viu o começo: ${cutOffParts}.`,
  );
  if (problems.length === 0) {
    if (unreadParts + cutOffParts === 0)
      return html`<p class="empty">${say('Nothing needs you.', 'Nada precisa de você.')}</p>`;
    return html`<p class="empty">${say('Nothing that was read needs you.', 'Nada do que foi lido precisa de você.')} ${unreadParts > 0 && unread} ${cutOffParts > 0 && partial}</p>`;
  }
  return html`${problemList(context, problems)}${unreadParts > 0 && html`<div class="inside"><p class="note trouble">${unread}</p></div>`}`;
}

function trafficTiles(context: Context, traffic: Traffic): Html {
  const { say } = context;
  const { hours, delivered, failed, held, isCutOff } = traffic;
  const series = [
    { kind: 'entregue', name: say('Delivered', 'Entregues'), counts: delivered },
    { kind: 'falhou', name: say('Failed', 'Falharam'), counts: failed },
    { kind: 'retida', name: say('Held', 'Retidas'), counts: held },
  ];
  const rows = hours.map((hour, at) => ({ hour, counts: series.map(({ counts }) => counts[at] ?? 0) }));
  const figures = series.map(({ kind, name, counts }) => {
    const total = number(
      context,
      counts.reduce((sum, count) => sum + count, 0),
    );
    const figure = isCutOff ? `${say('at least', 'pelo menos')} ${total}` : total;
    return { name, figure, beside: sparkLine(kind, counts) };
  });
  return html`${tiles(figures)}<details><summary>${say('The numbers by the hour', 'Os números por hora')}</summary>${table(
    [
      { heading: say('From', 'Desde'), value: ({ hour }: (typeof rows)[number]) => timeOf(hour, context) },
      ...series.map(({ name }, at) => ({
        heading: name,
        value: ({ counts }: (typeof rows)[number]) => number(context, counts[at] ?? 0),
        isNumber: true,
      })),
    ],
    rows.toReversed(),
    '',
  )}</details>`;
}

/** Draws counts as a line over a filled ground. The table beside it has the numbers: readers of screens are spared the line. */
function sparkLine(kind: string, counts: readonly number[]): Html {
  const most = Math.max(...counts, 1);
  const points = counts.map(
    (count, at) => `${(at * 100) / Math.max(1, counts.length - 1)},${(23 - (count / most) * 21).toFixed(1)}`,
  );
  return html`<svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true"><polygon class="${kind}" points="0,24 ${points.join(' ')} 100,24"/><polyline class="${kind}" points="${points.join(' ')}"/></svg>`;
}

/** Says how many rows are left out. */
function cut({ say }: Context, length: number): HtmlValue {
  return length > mostRows && html`<p>${say(`${mostRows} of ${length}`, `${mostRows} de ${length}`)}</p>`;
}

/** Says below the rows of a part that only a part of it was looked at. */
function partly(isCutOff: boolean, said: string): HtmlValue {
  return isCutOff && html`<p class="inside muted">${said}</p>`;
}

function troubledCard(context: Context, { webhooks, deliveries, troubled }: StartView): HtmlValue {
  const { texts, say } = context;
  // Slow ones are found beside the deliveries that wait for their turn.
  const unread = [webhooks, deliveries].filter(isUnread);
  const notes = [
    ...unread.map(({ unread }) => html`<div class="inside">${unreadPart(context, unread)}</div>`),
    !isUnread(deliveries) &&
      partly(
        deliveries.late.isCutOff,
        say(
          'Slow ones were looked for among the first that wait; there may be more.',
          'Os lentos foram procurados entre os primeiros que esperam; pode haver mais.',
        ),
      ),
  ];
  if (unread.length > 0 && troubled.length === 0) return notes;
  const looked = !isUnread(webhooks) && webhooks.isCutOff && webhooks.read;
  const empty = looked
    ? say(
        `None of the first ${looked} webhooks fails or is suspended. There are more, which are not looked at here.`,
        `Nenhum dos primeiros ${looked} webhooks falha ou está suspenso. Há mais, que não são vistos aqui.`,
      )
    : say(
        'No webhook fails or is suspended, and no delivery waits for a slow one.',
        'Nenhum webhook falha ou está suspenso, e nenhuma entrega espera por um lento.',
      );
  return html`${notes}<div class="lines">${table<TroubledWebhook>(
    [
      { heading: texts.account, value: ({ account }) => link(context, pathOf({ account }), account) },
      {
        heading: texts.event,
        value: ({ account, event }) => link(context, pathOf({ account, event }), event),
        isBrief: true,
      },
      { heading: texts.state, value: webhook => healthBadge(context, webhook), isBrief: true },
      { heading: texts.since, value: webhook => healthTime(context, webhook) },
      { heading: texts.reason, value: webhook => healthReason(context, webhook) ?? '–', isText: true },
    ],
    troubled.slice(0, mostRows),
    empty,
  )}</div>${partly(looked !== false && troubled.length > 0, say(`Of the first ${looked} webhooks; there are more.`, `Dos primeiros ${looked} webhooks; há mais.`))}`;
}

function undeliveredCard(context: Context, { deliveries, undelivered }: StartView): HtmlValue {
  const { texts, say } = context;
  const counted = (count: number, path: string) => (count === 0 ? null : link(context, path, String(count)));
  return ifRead(
    context,
    deliveries,
    ({ looked, isCutOff }) =>
      html`${table(
        [
          { heading: texts.account, value: ({ account }) => link(context, pathOf({ account }), account) },
          { heading: texts.event, value: webhook => link(context, pathOf(webhook), webhook.event), isBrief: true },
          {
            heading: say('Failed', 'Falharam'),
            value: webhook => counted(webhook.failed, `${pathOf(webhook)}?state=falhou`),
            isNumber: true,
            isBrief: true,
          },
          {
            heading: say('Held', 'Retidas'),
            value: webhook => counted(webhook.held, `${pathOf(webhook)}?state=retida`),
            isNumber: true,
            isBrief: true,
          },
        ],
        undelivered.slice(0, mostRows),
        say('No delivery has failed or is held.', 'Nenhuma entrega falhou ou está retida.'),
      )}${partly(isCutOff, say(`Among the first ${looked} that are not delivered; there are more.`, `Entre as primeiras ${looked} não entregues; há mais.`))}`,
  );
}

type Read<Value> = Exclude<Value, { readonly unread: string }>;

function queueTable(context: Context, queues: Read<StartView['queues']>) {
  const { texts, say } = context;
  const names: Readonly<Record<string, string>> = {
    events: say('Events', 'Eventos'),
    retry: say('Retries', 'Novas tentativas'),
    slow: say('Slow receivers', 'Receptores lentos'),
    'dead letters': texts.deadLetters,
  };
  return table(
    [
      {
        heading: say('Queue', 'Fila'),
        value: ({ queue }) =>
          queue === 'dead letters' ? link(context, '/dead-letters', names[queue]) : (names[queue] ?? queue),
        isBrief: true,
      },
      { heading: say('Waiting', 'Esperando'), value: ({ waiting }) => waiting, isNumber: true, isBrief: true },
      { heading: texts.inFlight, value: ({ inFlight }) => inFlight, isNumber: true },
      { heading: say('Delayed', 'Adiadas'), value: ({ delayed }) => delayed, isNumber: true },
    ],
    queues,
    '–',
  );
}

function keyTable(context: Context, keys: Read<StartView['keys']>) {
  const { say } = context;
  const names: Readonly<Record<string, string>> = {
    signing: say('Signs tokens', 'Assina tokens'),
    mac: say('Refresh tokens and lists', 'Refresh tokens e listas'),
    sealing: say('Seals secrets', 'Cifra segredos'),
  };
  return table(
    [
      {
        heading: say('Kind', 'Tipo'),
        value: ({ kind }) => html`${names[kind] ?? kind} <small class="wire">${kind}</small>`,
      },
      { heading: say('In use since', 'Em uso desde'), value: ({ activeSince }) => timeOf(activeSince, context) },
      {
        heading: say('Next key made', 'Próxima chave criada'),
        value: ({ nextMadeAt }) => (nextMadeAt ? timeOf(nextMadeAt, context) : say('already made', 'já criada')),
      },
    ],
    keys,
    say('There is no key.', 'Não há chave.'),
  );
}

function alarmCard(context: Context, { stage }: StartView): HtmlValue {
  const { texts, say } = context;
  if (!stage)
    return html`<p class="empty">${say('A local run has no alarms.', 'Uma execução local não tem alarmes.')}</p>`;
  return ifRead(
    context,
    stage.alarms,
    ({ ringing, total, isCutOff }) =>
      html`${table(
        [
          { heading: texts.alarms, value: ({ name }) => name },
          { heading: texts.since, value: ({ since }) => timeOf(since, context) },
          { heading: texts.why, value: ({ description }) => inEnglish(context, description), isText: true },
        ],
        ringing,
        isCutOff
          ? say(
              `None of the first ${total} alarms rings; there are more.`,
              `Nenhum dos primeiros ${total} alarmes toca; há mais.`,
            )
          : say('No alarm rings.', 'Nenhum alarme toca.'),
      )}${partly(isCutOff && ringing.length > 0, say(`Of the first ${total} alarms; there are more.`, `Dos primeiros ${total} alarmes; há mais.`))}`,
  );
}

function userTable(context: Context, { beingDeleted, read, isCutOff }: Read<StartView['users']>) {
  const { texts, say } = context;
  return html`${table(
    [
      { heading: say('User', 'Usuário'), value: ({ userId }) => html`<span class="code">${userId}</span>` },
      { heading: texts.account, value: ({ account }) => link(context, pathOf({ account }), account) },
      { heading: texts.since, value: ({ since }) => timeOf(since, context) },
    ],
    beingDeleted.slice(0, mostRows),
    isCutOff
      ? say(`None of the first ${read} users is; there are more.`, `Nenhum dos primeiros ${read} usuários; há mais.`)
      : say('No user is being deleted.', 'Nenhum usuário em exclusão.'),
  )}${partly(isCutOff && beingDeleted.length > 0, say(`Of the first ${read} users; there are more.`, `Dos primeiros ${read} usuários; há mais.`))}`;
}

/** Writes the facts of a deployment, each with its own reason where it could not be read. */
function stageFacts(context: Context, stage: NonNullable<StartView['stage']>) {
  const { say } = context;
  const nothing = say('none', 'nenhum');
  const part = <Value>(found: Part<Value>, write: (value: Value) => HtmlValue) =>
    isUnread(found) ? unreadPart(context, found.unread) : write(found);
  const listOf = (items: readonly string[]) =>
    items.length === 0 ? nothing : items.map(item => html`<div>${item}</div>`);
  return facts([
    [
      say('Stacks, when this console began', 'Stacks, quando este console começou'),
      listOf(
        stage.stacks.map(
          ({ name, state, version }) => `${name}: ${state ?? say('missing', 'ausente')} ${version ?? ''}`,
        ),
      ),
    ],
    [
      say('Rolled back', 'Revertidas'),
      part(stage.rolledBack, found => listOf(found.map(({ function: name, from, to }) => `${name}: ${from} → ${to}`))),
    ],
    [say('KMS key', 'Chave do KMS'), part(stage.kmsKey, key => key?.state ?? nothing)],
    [
      say('Certificates', 'Certificados'),
      part(stage.certificates, found =>
        listOf(
          found.map(
            ({ host, state, endsAt }) => `${host}: ${state}, ${say('until', 'até')} ${endsAt?.slice(0, 10) ?? '–'}`,
          ),
        ),
      ),
    ],
    [
      say('Subscriptions to alarms confirmed', 'Inscrições confirmadas nos alarmes'),
      part(stage.recipients, found => `${found.filter(({ state }) => state === 'confirmed').length} / ${found.length}`),
    ],
    [
      say('Throttled in 15 minutes', 'Limitadas em 15 minutos'),
      part(stage.throttles, found => listOf(found.map(throttle => `${placeOf(throttle)}: ${throttle.count}`))),
    ],
    [
      say('Tables protected', 'Tabelas protegidas'),
      part(
        stage.tables,
        found => `${found.filter(({ deletionProtection }) => deletionProtection).length} / ${found.length}`,
      ),
    ],
  ]);
}

/** The rows that are shown of a table. */
const mostRows = 50;
