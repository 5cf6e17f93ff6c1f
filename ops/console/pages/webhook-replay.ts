import { wireReplayStates } from '../../../lambdas/delivery/representation.ts';
import { isoTime } from '../../../lambdas/platform/clock.ts';
import { type Html, html } from '../html.ts';
import { type Answer, badge, button, type Context, card, exactTimeOf, type Parameters, pathOf } from '../page.ts';
import { question } from '../page-parts.ts';
import { NotThere, Refusal, type ReplayView } from '../views.ts';
import { addressOf, filterOf, queryOf, timesOf } from './webhook-filter.ts';

/** Asks before many deliveries are sent again, with their number. */
export async function askReplay(context: Context, { event = '' }: Parameters): Promise<Answer> {
  const { source, texts, say, query } = context;
  const filter = filterOf(query);
  const registered = await source.findWebhook(event);
  if (!registered) throw new NotThere(texts.notThere);
  if (registered.status === 'suspenso')
    throw new Refusal(
      say('The webhook is suspended: reactivate it first.', 'O webhook está suspenso: reative-o primeiro.'),
    );
  // What was for an earlier registration is left out, and was accepted before this one.
  const from = registered.createdAt;
  const range = rangeOf(context, event, query, from);
  const since = range.since > from ? range.since : from;
  const counted = since < range.until && (await source.countMatching({ ...range, since }));
  if (!counted || (counted.count === 0 && !counted.isCutOff))
    throw new Refusal(
      say(
        'None of these can be sent again: each is a test, was for an earlier registration, or is gone.',
        'Nenhuma destas pode ser reenviada: cada uma é um teste, era de um cadastro anterior ou já não existe.',
      ),
    );
  return question(context, {
    title: say('Send these deliveries again?', 'Reenviar estas entregas?'),
    means: html`${event} · ${badge(context, range.state)}<br>${exactTimeOf(range.since, context)} – ${exactTimeOf(range.until, context)}<br>${say('Deliveries that match', 'Entregas que correspondem')}: <b>${counted.count}</b> ${counted.isCutOff && say('or more', 'ou mais')}<br>${say('Tests and deliveries of earlier registrations are left out. The rest is sent in the background, ten a second; you can cancel it.', 'Testes e entregas de cadastros anteriores ficam de fora. As demais são enviadas em segundo plano, dez por segundo; você pode cancelar.')}`,
    verb: say('Send again', 'Reenviar'),
    action: `${pathOf({ event })}/replay`,
    cancel: addressOf(event, filter),
    values: { state: range.state, since: range.since, until: range.until, filter: queryOf(filter) },
  });
}

/** Begins a replay, and leads to its progress, over the list as it was. */
export async function replay(context: Context, { event = '' }: Parameters, form: URLSearchParams): Promise<Answer> {
  const id = await context.source.replay(rangeOf(context, event, form));
  const note = context.say('They are being sent again.', 'Estão sendo reenviadas.');
  const filter = filterOf(new URLSearchParams(form.get('filter') ?? ''));
  return { location: withReplay(addressOf(event, filter), id), note };
}

/** Cancels a replay: what it has not sent stays as it is. */
export async function cancelReplay(
  context: Context,
  { event = '' }: Parameters,
  form: URLSearchParams,
): Promise<Answer> {
  const id = form.get('replay') ?? '';
  await context.source.cancelReplay(event, id);
  const note = context.say('The replay is cancelled.', 'O reenvio foi cancelado.');
  return { location: withReplay(addressOf(event, filterOf(form)), id), note };
}

/** Writes how far a replay is, with the button that ends it. One that has ended is shown only where it is asked for. */
export function replayCard(context: Context, event: string, found?: ReplayView): Html | undefined {
  const { say, query } = context;
  if (!found || !(found.isRunning || query.get('replay') === found.id)) return undefined;
  const { id, isRunning, state, sent } = found;
  const filter = filterOf(query);
  const fields = { replay: id, ...Object.fromEntries(new URLSearchParams(queryOf(filter))) };
  return card(
    headingOf(context, found),
    html`<div class="inside replay"><p>${say(`${sent} sent again.`, `${sent} reenviadas.`)}</p>
${isRunning && button(context, `${pathOf({ event })}/replay/cancel`, say('Cancel the replay', 'Cancelar o reenvio'), '', fields)}</div>`,
    { id: 'replay', beside: html`<small class="wire">${state}</small>` },
  );
}

function headingOf({ say }: Context, { isRunning, state }: ReplayView): string {
  if (isRunning) return say('A replay is under way', 'Um reenvio está em andamento');
  return state === wireReplayStates.cancelled
    ? say('The replay was cancelled', 'O reenvio foi cancelado')
    : say('The replay is done', 'O reenvio terminou');
}

/** Returns what a replay of the filter sends. @throws {Refusal} where its state is not one that is sent again. */
function rangeOf({ say, now }: Context, event: string, values: URLSearchParams, from = isoTime(0)) {
  const filter = filterOf(values);
  const { state } = filter;
  if (filter.strange.length > 0 || (state !== 'falhou' && state !== 'retida'))
    throw new Refusal(
      say(
        'Choose the state "Failed" or "Held", and times that are some: those are sent again together.',
        'Escolha o estado "Falhou" ou "Retida", e um período que exista: essas são reenviadas juntas.',
      ),
    );
  const { since, until } = timesOf(filter, now);
  return { event, state, since: since ?? from, until: until ?? isoTime(now) };
}

function withReplay(address: string, id: string): string {
  return `${address}${address.includes('?') ? '&' : '?'}replay=${encodeURIComponent(id)}`;
}
