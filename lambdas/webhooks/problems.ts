import type { ProblemTable } from '../api/problem.ts';
import type { RequestContext } from '../api/route.ts';
import { type EventName, isEventName } from './webhook.ts';

/** The refusals of what is asked of a webhook. */
export const webhookProblems = {
  /** Also for an unknown event name: no account has a webhook for it. */
  webhook_not_found: {
    status: 404,
    code: 'webhook_not_found',
    en: 'There is no webhook for this event.',
    pt: 'Não há webhook para este evento.',
  },
  webhook_exists: {
    status: 409,
    code: 'webhook_exists',
    en: 'The account has a webhook for this event: change it with PUT; for another secret, POST to its path /segredo.',
    pt: 'A conta já tem um webhook para este evento: altere-o com PUT; para outro segredo, use POST no caminho /segredo dele.',
  },
  webhook_suspended: {
    status: 409,
    code: 'webhook_suspended',
    en: 'The webhook is suspended: reactivate it first.',
    pt: 'O webhook está suspenso: reative-o antes.',
  },
  suspended_by_operator: {
    status: 409,
    code: 'suspended_by_operator',
    en: 'An operator suspended this webhook: only an operator ends that.',
    pt: 'Um operador suspendeu este webhook: só um operador pode encerrar a suspensão.',
  },
  too_many_secrets: {
    status: 409,
    code: 'too_many_secrets',
    en: 'Four replaced secrets still sign. Wait as long as Retry-After says, or send imediato: true.',
    pt: 'Quatro segredos anteriores ainda assinam. Aguarde o tempo indicado em Retry-After ou envie imediato: true.',
  },
  contended: {
    status: 503,
    code: 'temporarily_unavailable',
    en: 'Others are changing this webhook: try again.',
    pt: 'Outras requisições estão alterando este webhook: tente novamente.',
  },
} as const satisfies ProblemTable;

/** Returns the event name in the path. @throws {Problem} 404 for an unknown one. */
export function requireEventName({ path, refuse }: RequestContext<'webhook_not_found'>): EventName {
  const { evento: eventName = '' } = path;
  if (!isEventName(eventName)) throw refuse('webhook_not_found');
  return eventName;
}
