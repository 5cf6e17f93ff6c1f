import { wireReasons, wireStatuses } from '../../lambdas/webhooks/representation.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import { type Context, timeOf } from './page.ts';
import type { Say } from './texts.ts';
import type { WebhookView } from './views.ts';

/** The health of a webhook: the worst that is true of it. */
export interface Health {
  readonly word: 'healthy' | 'failing' | 'slow' | 'suspended';
  /** Since when. Of a suspended one it is the last change: when it was suspended is not kept. `null` for a healthy one. */
  readonly since: string | null;
  /** The wire's word for why it is suspended. */
  readonly reason: string | null;
  /** The class of its badge. */
  readonly tone: 'good' | 'bad' | 'wait' | 'held';
}

/** The fields that decide its health. */
type Judged = Pick<WebhookView, 'status' | 'reason' | 'failingSince' | 'slowSince' | 'updatedAt'>;

/** Returns how a webhook does: `ativo` alone says only that it is not suspended. */
export function healthOf({ status, reason, failingSince, slowSince, updatedAt }: Judged): Health {
  if (status === wireStatuses.suspended) return { word: 'suspended', since: updatedAt, reason, tone: 'held' };
  if (failingSince) return { word: 'failing', since: failingSince, reason: null, tone: 'bad' };
  if (slowSince) return { word: 'slow', since: slowSince, reason: null, tone: 'wait' };
  return { word: 'healthy', since: null, reason: null, tone: 'good' };
}

/** Writes how a webhook does as a badge. */
export function healthBadge({ say }: Context, webhook: Judged): Html {
  const { word, tone } = healthOf(webhook);
  return html`<span class="badge ${tone}">${wordFor(say)[word]}</span>${word === 'suspended' && html` <small class="wire">${webhook.status}</small>`}`;
}

/** Writes since when a webhook does as it does, and why it is suspended; nothing of a healthy one. */
export function healthSince(context: Context, webhook: Judged): Html | null {
  const { say } = context;
  const { word, since } = healthOf(webhook);
  if (word === 'healthy') return null;
  const reason = healthReason(context, webhook);
  return html`${word === 'suspended' ? say('last changed', 'última alteração') : say('since', 'desde')} ${timeOf(since, context)}${reason && html`<br><small>${reason}</small>`}`;
}

/** Writes since when a webhook does as it does, under a heading that says so. */
export function healthTime(context: Context, webhook: Judged): HtmlValue {
  const { word, since } = healthOf(webhook);
  const { say } = context;
  return html`${timeOf(since, context)}${word === 'suspended' && html` <small>${say('its last change', 'última alteração')}</small>`}`;
}

/** Says what it means that a webhook does as it does, or why it is suspended; nothing of a healthy one. */
export function healthReason({ say }: Context, webhook: Judged): string | null {
  const { word, reason } = healthOf(webhook);
  if (word === 'failing') return say('no success since then', 'sem sucesso desde então');
  if (word === 'slow') return say('few attempts are made at once', 'poucas tentativas por vez');
  return reason && suspensionReason(say, reason);
}

/** Says the wire's word for why a webhook is suspended. */
function suspensionReason(say: Say, reason: string): string {
  const known: Readonly<Record<string, string | undefined>> = {
    [wireReasons.gone]: say('its receiver answered 410 Gone', 'o receptor respondeu 410 Gone'),
    [wireReasons.no_success]: say('nothing but failures for five days', 'só falhas por cinco dias'),
    [wireReasons.operator]: say('by an operator, who alone ends it', 'por um operador, o único que pode encerrar'),
  };
  return known[reason] ?? reason;
}

function wordFor(say: Say): Readonly<Record<Health['word'], string>> {
  return {
    healthy: say('Healthy', 'Saudável'),
    failing: say('Failing', 'Falhando'),
    slow: say('Slow', 'Lento'),
    suspended: say('Suspended', 'Suspenso'),
  };
}
