import type { Violate } from '../../invariants/violation.ts';
import type { Change } from '../../watched-tables.ts';
import type { TokenRequest } from '../journal.ts';
import type { Evidence } from './evidence.ts';

/**
 * Checks logins that returned no tokens. They must not leave a session, unless the process crashed or the deletion of the
 * session failed. A remaining session must never be used.
 */
export function checkFailedLogins({ world, requests }: Evidence, violate: Violate): void {
  const { journal, watched } = world;
  const sessions = watched.writesOf('Sessions');
  const changes = Map.groupBy(sessions, journal.requestOf);
  const used = new Set(sessions.filter(isRotation).map(({ key }) => key.sessionId));
  for (const request of requests) {
    if (request.form.grant_type !== 'password' || request.response?.status === 200) continue;
    const created = changes.get(request)?.find(({ before, item }) => !before && item);
    if (!created) continue;
    const id = String(created.key.sessionId);
    if (used.has(id)) violate('a session of a login without tokens was used', id);
    const remains = watched.itemAt('Sessions', created.key, request.endedAt ?? 0) !== undefined;
    if (remains && request.response && !hasFailedDeletion(request))
      violate('a login without tokens left a session', request.id);
  }
}

function isRotation({ before, item }: Change): boolean {
  return before !== undefined && item !== undefined && before.counter !== item.counter;
}

function hasFailedDeletion({ calls }: TokenRequest): boolean {
  return calls.some(({ name, outcome }) => name === 'Delete Sessions' && outcome !== 'succeeded');
}
