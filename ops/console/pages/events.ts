import { type Cause, type EventVerdict, eventVerdicts } from '../../deliveries/event-verdict.ts';
import { suspensionReason } from '../health.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import type { EventsView } from '../operator/events.ts';
import {
  type Answer,
  type Context,
  card,
  exactTimeOf,
  link,
  oneLine,
  type Parameters,
  pathOf,
  table,
  timeOf,
} from '../page.ts';
import { operatorOf } from '../page-parts.ts';
import { type Say, textFor } from '../texts.ts';
import { accountHead } from './account.ts';
import { detailIn } from './letter-detail.ts';

/** The events that came for an account since yesterday, and what became of each. It does not renew itself: it searches logs. */
export async function eventsPage(context: Context, { account = '' }: Parameters): Promise<Answer> {
  const { texts, query } = context;
  const fate = eventVerdicts.find(known => known === query.get('fate'));
  const events = await operatorOf(context).listEvents(account, fate);
  return {
    title: `${texts.events} · ${account}`,
    isLive: false,
    content: html`${accountHead(context, account, 'events')}
${card(
  texts.events,
  html`${fates(context, account, fate)}<div class="lines">${eventTable(context, account, events, fate)}</div>${beyond(context, events, fate)}`,
  {
    beside: html`<p>${context.say('since', 'desde')} ${exactTimeOf(events.since, context)}</p>`,
  },
)}`,
  };
}

/** Writes what became of an event as a badge. */
export function fateBadge({ say }: Context, fate: EventVerdict): Html {
  const [tone, word] = fateWord(say, fate);
  return html`<span class="badge ${tone}">${word}</span>`;
}

/** Says in one line why an event has its fate. */
export function causeText({ texts, say }: Context, cause: Cause): string {
  switch (cause.kind) {
    case 'attempt':
    case 'slow': {
      const { attempt } = cause;
      const slow = cause.kind === 'slow' ? say('The receiver is slow. ', 'O receptor é lento. ') : '';
      if (!attempt) return `${slow}${texts.noAttempt}`;
      return `${slow}${say('Attempt', 'Tentativa')} ${attempt.number}: ${resultOf(attempt)}`;
    }
    case 'suspended':
      return `${say('Its webhook is suspended', 'O webhook está suspenso')}: ${suspensionReason(say, cause.reason)}`;
    case 'active again':
      return say(
        'Its webhook was suspended and is active again: it can be sent',
        'O webhook foi suspenso e está ativo de novo: pode ser enviado',
      );
    case 'suspended before':
      return say(
        'An operator suspended its webhook before it was sent',
        'Um operador suspendeu o webhook antes do envio',
      );
    case 'webhook deleted':
      return say(
        'Its webhook was deleted, or registered anew, before it was sent',
        'O webhook foi excluído, ou cadastrado de novo, antes do envio',
      );
    case 'no webhook':
      return say('The account had no webhook for it', 'A conta não tinha webhook para ele');
    case 'shed':
      return say('It waits for a free place, for some seconds', 'Espera um lugar livre, por alguns segundos');
    case 'overdue':
      return cause.looked
        ? say(
            'It should have come again by now, and no dead letter tells of it: it may stand in its queue still, or have been discarded or sent back',
            'Já deveria ter voltado, e nenhuma mensagem rejeitada fala dele: pode estar ainda na fila, ou ter sido descartado ou devolvido à fila',
          )
        : say(
            'It should have come again by now: it may stand in its queue still, be a dead letter, or have been discarded or sent back',
            'Já deveria ter voltado: pode estar ainda na fila, ser uma mensagem rejeitada, ou ter sido descartado ou devolvido à fila',
          );
    case 'record gone':
      return say('So says the log; its record is past its time', 'Diz o log; o registro já passou do prazo');
    case 'refused': {
      const known: Readonly<Record<string, string>> = {
        malformed: say('The message has another form', 'A mensagem tem outra forma'),
        unknown_event: say('There is no such event', 'Não existe esse evento'),
        id_reused: say('Its id was used before', 'O id já tinha sido usado'),
      };
      const { reason } = cause;
      if (reason === null) return say('It could not be processed', 'Não pôde ser processada');
      return known[reason] ?? reason;
    }
    case 'id used before':
      return say('Its id was used before for another content', 'O id já tinha sido usado para outro conteúdo');
    case 'our fault':
      return say(
        `A fault of our own; it comes again after ${cause.seconds} s`,
        `Uma falha nossa; volta após ${cause.seconds} s`,
      );
    case 'outcome not stored':
      return say(
        `Attempt ${cause.attempt.number}: ${resultOf(cause.attempt)}; that could not be stored`,
        `Tentativa ${cause.attempt.number}: ${resultOf(cause.attempt)}; isso não pôde ser guardado`,
      );
    case 'not found':
      return `${say(
        'Neither a delivery nor a dead letter nor the log knows it: it was published before that, under another id, not here, or a moment ago',
        'Nem entregas, nem mensagens rejeitadas, nem o log o conhecem: foi publicado antes disso, com outro id, em outro lugar ou agora há pouco',
      )}${standInQueue(say, cause.queued)}`;
  }

  function resultOf({ result, status }: { readonly result: string; readonly status: number | null }): string {
    return `${textFor(texts, 'result', result) ?? result}${status === null ? '' : ` ${status}`}`;
  }
}

/** Returns the sentence about the messages in the events queue. No line of the log tells of one before a function receives it. */
function standInQueue(say: Say, queued: number | undefined): string {
  if (queued === 0) return '';
  if (queued === undefined) {
    return say(
      '. How many messages wait in the events queue could not be read',
      '. Não foi possível ler quantas mensagens esperam na fila de eventos',
    );
  }
  return say(
    `. Messages that wait in the events queue: about ${queued}. It may be among them`,
    `. Mensagens que esperam na fila de eventos: cerca de ${queued}. Pode estar entre elas`,
  );
}

/** Writes what a refusal says, and the way to what was refused or came first. */
export function causeDetail(context: Context, cause: Cause): HtmlValue {
  const { say } = context;
  if (cause.kind === 'refused') {
    const path = `/dead-letters/${encodeURIComponent(cause.messageId)}`;
    return html`${cause.detail && html`<p>${detailIn(context, cause.detail)}</p>`}<p>${link(context, path, say('Open the dead letter', 'Abrir a mensagem rejeitada'))}</p>`;
  }
  if (cause.kind !== 'id used before') return null;
  const path = `/find?${new URLSearchParams({ id: cause.deliveryId })}`;
  return html`<p>${link(context, path, say('Find the first one', 'Procurar o primeiro'))}</p>`;
}

function fateWord(say: Say, fate: EventVerdict): readonly [tone: string, word: string] {
  const words: Readonly<Record<EventVerdict, readonly [tone: string, word: string]>> = {
    delivered: ['good', say('Delivered', 'Entregue')],
    waiting: ['wait', say('Waiting', 'Pendente')],
    failed: ['bad', say('Failed', 'Falhou')],
    held: ['held', say('Held', 'Retido')],
    cancelled: ['', say('Cancelled', 'Cancelado')],
    'no webhook': ['', say('No webhook', 'Sem webhook')],
    refused: ['bad', say('Refused', 'Recusado')],
    unknown: ['', say('Unknown', 'Desconhecido')],
  };
  return words[fate];
}

/** Writes the fates to choose from. */
function fates(context: Context, account: string, chosen: EventVerdict | undefined): Html {
  const { texts, folder, say } = context;
  const path = `${pathOf({ account })}/events`;
  const chip = (fate: EventVerdict | undefined) => {
    const to = fate === undefined ? path : `${path}?${new URLSearchParams({ fate })}`;
    return html`<a class="chip" href="${folder}${to}"${fate === chosen && html` aria-current="true"`}>${fate === undefined ? texts.all : fateWord(say, fate)[1]}</a>`;
  };
  const ofAccount = eventVerdicts.filter(fate => fate !== 'unknown');
  return html`<nav class="chips inside" aria-label="${say('What became of it', 'O que houve')}">${[undefined, ...ofAccount].map(chip)}</nav>`;
}

function eventTable(context: Context, account: string, { events, looked, queued }: EventsView, fate?: EventVerdict) {
  const { texts, say } = context;
  return table(
    [
      { heading: say('Came', 'Chegou'), value: ({ at }) => timeOf(at, context), isBrief: true },
      { heading: texts.event, value: ({ event }) => event ?? '–', isBrief: true },
      {
        heading: say('What became of it', 'O que houve'),
        value: ({ fate }) => fateBadge(context, fate),
        isBrief: true,
      },
      {
        heading: texts.why,
        value: event =>
          html`<details><summary>${causeText(context, event.cause)}</summary>${eventDetail(context, account, event)}</details>`,
        isText: true,
      },
    ],
    events,
    fate !== undefined && looked > 0
      ? say(
          `None of the latest events (${looked}) has this fate.`,
          `Nenhum dos últimos eventos (${looked}) teve este desfecho.`,
        )
      : say(
          `No event came for this account. Its publisher sends them to the events queue${standInQueue(say, queued)}.`,
          `Nenhum evento chegou para esta conta. O publicador os envia à fila de eventos${standInQueue(say, queued)}.`,
        ),
  );
}

type EventRow = EventsView['events'][number];

/** Writes the ids of an event, and the way to the pages where something can be done. */
function eventDetail(context: Context, account: string, { event, deliveryId, messageId, cause }: EventRow): Html {
  const { say, folder } = context;
  const ways: (readonly [path: string, label: string])[] = [];
  if (event !== undefined && deliveryId?.startsWith('evt_') && hasDelivery(cause)) {
    ways.push([pathOf({ account, event, id: deliveryId }), say('Open the delivery', 'Abrir a entrega')]);
  }
  if (event !== undefined && ['suspended', 'slow', 'no webhook'].includes(cause.kind)) {
    ways.push([pathOf({ account, event }), say('Open the webhook', 'Abrir o webhook')]);
  }
  if (event !== undefined && cause.kind === 'active again') {
    ways.push([`${pathOf({ account, event })}?state=retida`, say('All that are held', 'Todas as retidas')]);
  }
  if (cause.kind === 'overdue') {
    ways.push([`/find?${new URLSearchParams({ id: messageId ?? deliveryId ?? '' })}`, say('Find it', 'Procurar')]);
  }
  const rows: (readonly [term: HtmlValue, value: HtmlValue])[] = [
    [html`<code>webhook-id</code>`, deliveryId && oneLine(context, deliveryId)],
    [say('Message id', 'Id da mensagem'), messageId && oneLine(context, messageId)],
    [
      say('Next attempt', 'Próxima tentativa'),
      'dueAt' in cause && cause.dueAt !== null && timeOf(new Date(cause.dueAt).toISOString(), context),
    ],
  ];
  return html`<dl class="facts">${rows.flatMap(([term, value]) => (value ? html`<div><dt>${term}</dt><dd>${value}</dd></div>` : []))}</dl>${causeDetail(context, cause)}
<div class="actions">${ways.map(([path, label]) => html`<a class="button" href="${folder}${path}">${label}</a>`)}</div>`;
}

/** Returns whether a record of a delivery stands behind a verdict. */
function hasDelivery({ kind }: Cause): boolean {
  return ['attempt', 'slow', 'suspended', 'active again', 'suspended before', 'webhook deleted'].includes(kind);
}

/** Says what lies beyond the events that are shown. */
function beyond({ say, ...context }: Context, events: EventsView, fate: EventVerdict | undefined): Html {
  const { looked, found, isCutOff, since, logSince } = events;
  const sentences = [
    fate !== undefined &&
      isCutOff &&
      found > 0 &&
      say(`Looked for among the latest ${looked}.`, `Procurado entre os últimos ${looked}.`),
    found > events.events.length &&
      say(`${events.events.length} of ${found} are shown.`, `São mostrados ${events.events.length} de ${found}.`),
    fate === undefined &&
      isCutOff &&
      say(
        `The latest ${looked}; there are more. The page of each webhook lists all of its deliveries.`,
        `Os últimos ${looked}; há mais. A página de cada webhook lista todas as suas entregas.`,
      ),
    logSince > since &&
      say(
        'What became no delivery is known by the log, which reaches back to:',
        'O que não virou entrega se sabe pelo log, que alcança até:',
      ),
  ].filter(sentence => sentence !== false);
  return html`${sentences.length > 0 && html`<p class="inside muted">${sentences.join(' ')} ${logSince > since && exactTimeOf(logSince, { say, ...context })}</p>`}`;
}
