import type { Violate } from '../../invariants/violation.ts';
import { hashName, type TokenRequest } from '../journal.ts';
import type { Evidence } from './evidence.ts';

/** Judges the number of DynamoDB calls and hashes per request in calm, by operation and table. */
export function judgeCalls(evidence: Evidence, violate: Violate): void {
  for (const request of evidence.requests) {
    if (!evidence.isCalm(request)) continue;
    const kind = kindOf(request, evidence);
    const made = Map.groupBy(request.calls, ({ name }) => name);
    for (const [name, { length }] of made) {
      const most = maxCalls[kind][name] ?? 0;
      if (length > most) violate(`${kind}: ${name} ${length} times instead of ${most}`, request.id);
    }
  }
}

/** The kinds of requests that make different calls. */
type Kind = 'refused client' | 'login' | 'refused login' | 'locked login' | 'refresh' | 'revocation' | 'introspection';

function kindOf(request: TokenRequest, { reasonOf }: Evidence): Kind {
  const { endpoint, form, answer } = request;
  if (answer?.status === 401) return 'refused client';
  if (endpoint === 'revoke') return 'revocation';
  if (endpoint === 'introspect') return 'introspection';
  if (form.grant_type === 'refresh_token') return 'refresh';
  if (reasonOf(request) === 'user_locked') return 'locked login';
  return answer?.status === 200 ? 'login' : 'refused login';
}

/** Each request may read the keyring again, if the keyring is 30 s old. */
const each = { 'Query Keyring': 2 };

/** The calls of every login, granted or rejected. */
const eachLogin = { ...each, 'BatchGet Credentials Lockouts Clients': 1, 'BatchGet Users': 1 };

const maxCalls: Readonly<Record<Kind, Readonly<Record<string, number>>>> = {
  'refused client': {
    ...each,
    'BatchGet Credentials Lockouts Clients': 1,
    'BatchGet Users Sessions Clients': 1,
    'BatchGet Clients': 1,
  },
  /** A login replaces a hash that has former parameters. */
  login: {
    ...eachLogin,
    [hashName]: 2,
    'Update Credentials': 1,
    'Delete Lockouts': 1,
    'Put Sessions': 1,
  },
  /** A failure may restart the count and start the client's minute with others, or a lock may overtake a session. */
  'refused login': {
    ...eachLogin,
    [hashName]: 1,
    'Update Lockouts': 5,
    'Delete Lockouts': 1,
    'Put Sessions': 1,
    'Delete Sessions': 1,
  },
  'locked login': eachLogin,
  /** One of several concurrent refreshes rotates. Without a grace period the next one ends the session. */
  refresh: {
    ...each,
    'BatchGet Users Sessions Clients': 1,
    'Update Sessions': 2,
    'BatchGet Sessions': 1,
  },
  revocation: { ...each, 'BatchGet Clients': 1, 'BatchGet Sessions': 1, 'Update Sessions': 1 },
  introspection: {
    ...each,
    'BatchGet Clients': 1,
    'BatchGet Clients Users Sessions': 1,
    'BatchGet Users Sessions': 1,
  },
};
