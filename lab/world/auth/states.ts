import { type Client, parseClient } from '../../../lambdas/auth/principals/client.ts';
import { type Credential, parseCredential, parseUser, type User } from '../../../lambdas/auth/principals/user.ts';
import { parseSession, type Session, sessionKey } from '../../../lambdas/auth/sessions/session.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { TableName } from '../../../tools/support/tables.ts';
import type { WatchedTables } from '../watched-tables.ts';
import type { TokenRequest } from './journal.ts';

/** Reads the versions of records during a request. */
export type States = ReturnType<typeof makeStates>;

/** Creates functions that return all versions of a record that were current during a request. */
export function makeStates(watched: WatchedTables) {
  return { clients, users, credentials, sessions };

  function clients(request: TokenRequest, clientId: string): readonly (Client | undefined)[] {
    return read('Clients', { clientId }, request, parseClient);
  }

  function users(request: TokenRequest, userId: string): readonly (User | undefined)[] {
    return read('Users', { userId }, request, parseUser);
  }

  function credentials(request: TokenRequest, email: string): readonly (Credential | undefined)[] {
    return read('Credentials', { email }, request, parseCredential);
  }

  function sessions(request: TokenRequest, sessionId: string): readonly (Session | undefined)[] {
    return read('Sessions', sessionKey('Sessions', sessionId).key, request, parseSession);
  }

  function read<Record>(
    table: TableName,
    key: Item,
    { sentAt, endedAt = sentAt }: TokenRequest,
    parse: (item: Item | undefined) => Record | undefined,
  ): readonly (Record | undefined)[] {
    return watched.versionsWithin(table, key, sentAt, endedAt).map(({ item }) => parse(item));
  }
}
