import type { Violate } from '../../invariants/violation.ts';
import { hashName, type TokenRequest } from '../journal.ts';
import type { Evidence } from './evidence.ts';

/** Checks the number of DynamoDB calls and hashes in each request without faults. Each operation on a table has a maximum. */
export function checkCalls(evidence: Evidence, violate: Violate): void {
  for (const request of evidence.requests) {
    if (!evidence.isFaultFree(request)) continue;
    const kind = kindOf(request, evidence);
    const callsByName = Map.groupBy(request.calls, ({ name }) => name);
    for (const [name, { length }] of callsByName) {
      const max = maxCalls[kind][name] ?? 0;
      if (length > max) violate(`${kind}: ${name} ${length} times instead of ${max}`, request.id);
    }
  }
}

/** The kinds of requests. Each kind makes different calls. */
type Kind = 'rejected client' | 'login' | 'rejected login' | 'locked login' | 'refresh' | 'revoke' | 'introspect';

function kindOf(request: TokenRequest, { reasonOf }: Evidence): Kind {
  const { endpoint, form, response } = request;
  if (response?.status === 401) return 'rejected client';
  if (endpoint === 'revoke') return 'revoke';
  if (endpoint === 'introspect') return 'introspect';
  if (form.grant_type === 'refresh_token') return 'refresh';
  if (reasonOf(request) === 'user_locked') return 'locked login';
  return response?.status === 200 ? 'login' : 'rejected login';
}

/** The calls that any request may make. It may read the keyring again if the cached keys are 30 s old. */
const everyRequest = { 'Query Keyring': 2 };

/** The calls that any login may make, whether it is granted or rejected. */
const everyLogin = { ...everyRequest, 'BatchGet Credentials Lockouts Clients': 1, 'BatchGet Users': 1 };

const maxCalls: Readonly<Record<Kind, Readonly<Record<string, number>>>> = {
  'rejected client': {
    ...everyRequest,
    'BatchGet Credentials Lockouts Clients': 1,
    'BatchGet Users Sessions Clients': 1,
    'BatchGet Clients': 1,
  },
  /** A login rehashes the password if the hash parameters are outdated. */
  login: {
    ...everyLogin,
    [hashName]: 2,
    'Update Credentials': 1,
    'Delete Lockouts': 1,
    'Put Sessions': 1,
  },
  /** A failure may restart the failure count and the client's minute. A concurrent lock may end a session that the login created. */
  'rejected login': {
    ...everyLogin,
    [hashName]: 1,
    'Update Lockouts': 5,
    'Delete Lockouts': 1,
    'Put Sessions': 1,
    'Delete Sessions': 1,
  },
  'locked login': everyLogin,
  /** One of several concurrent refreshes rotates the token. Without a grace period, the next refresh ends the session. */
  refresh: {
    ...everyRequest,
    'BatchGet Users Sessions Clients': 1,
    'Update Sessions': 2,
    'BatchGet Sessions': 1,
  },
  revoke: { ...everyRequest, 'BatchGet Clients': 1, 'BatchGet Sessions': 1, 'Update Sessions': 1 },
  introspect: {
    ...everyRequest,
    'BatchGet Clients': 1,
    'BatchGet Clients Users Sessions': 1,
    'BatchGet Users Sessions': 1,
  },
};
