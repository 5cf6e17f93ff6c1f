import type { Violate } from '../../invariants/violation.ts';
import type { TokenRequest } from '../journal.ts';
import type { Change } from '../table-history.ts';
import type { Evidence } from './evidence.ts';

/**
 * Judges logins that were not answered with tokens: they leave no session behind, but where the process died or the undoing went
 * unanswered. One that stays is never used.
 */
export function judgeUnansweredLogins({ world, requests }: Evidence, violate: Violate): void {
  const { journal, history } = world;
  const changes = journal.changesByRequest();
  const used = new Set(
    history
      .changesOf('Sessions')
      .filter(isRotation)
      .map(({ key }) => key.sessionId),
  );
  for (const request of requests) {
    if (request.form.grant_type !== 'password' || request.answer?.status === 200) continue;
    const created = changes.get(request)?.find(({ table, before, after }) => table === 'Sessions' && !before && after);
    if (!created) continue;
    const id = String(created.key.sessionId);
    if (used.has(id)) violate('a session of a login without tokens was used', id);
    const stays = history.at('Sessions', created.key, request.endedAt ?? 0) !== undefined;
    if (stays && request.answer && !wasUndoingUnanswered(request))
      violate('a login without tokens leaves a session', request.id);
  }
}

function isRotation({ before, after }: Change): boolean {
  return before !== undefined && after !== undefined && before.counter !== after.counter;
}

function wasUndoingUnanswered({ calls }: TokenRequest): boolean {
  return calls.some(({ name, ending }) => name === 'Delete Sessions' && ending !== 'answered');
}
