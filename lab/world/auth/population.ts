import type { Role } from '../../../lambdas/auth/principals/user.ts';
import type { NewClient } from '../../../ops/stores/client-store.ts';

export interface WorldClient extends NewClient {
  /** The client id. The set-up assigns the id and the secret. */
  clientId: string;
  clientSecret: string;
}

export interface WorldUser {
  email: string;
  readonly accountId: string;
  readonly role: Role;
  /** The user's current password. */
  password: string;
  /** The user id, which the set-up assigns. */
  userId: string;
}

/** The clients and users of a world. */
export type Population = ReturnType<typeof makePopulation>;

/** Creates the clients and users, which are the same in each world. Only their actions depend on the seed. */
export function makePopulation() {
  const bothGrants = ['password', 'refresh_token'] as const;
  const clients = {
    web: client({ name: 'web', grants: bothGrants }),
    mobile: client({ name: 'mobile', grants: bothGrants, graceSeconds: 10 }),
    strict: client({ name: 'strict', grants: bothGrants, graceSeconds: 0 }),
    bound: client({ name: 'bound', grants: bothGrants, accountId: 'conta-1', scopes: ['webhooks:read'] }),
    once: client({ name: 'once', grants: ['password'] }),
    /** The client that loses its password grant when an operator runs `only-refresh`. */
    refreshOnly: client({ name: 'refresh-only', grants: bothGrants }),
    auditor: client({ name: 'auditor', grants: bothGrants, introspect: true }),
  };
  const users = {
    ana: user('ana@conta-1.example', 'conta-1'),
    bia: user('bia@conta-1.example', 'conta-1', 'member'),
    caio: user('caio@conta-2.example', 'conta-2'),
    duda: user('duda@conta-2.example', 'conta-2'),
    /** The target of password guessing. */
    victim: user('eva@conta-1.example', 'conta-1'),
    /** A user with day-old login failures through several clients. */
    dormant: user('fabio@conta-2.example', 'conta-2'),
  };
  return { clients, users };
}

function client(newClient: NewClient): WorldClient {
  return { ...newClient, clientId: '', clientSecret: '' };
}

function user(email: string, accountId: string, role: Role = 'admin'): WorldUser {
  return { email, accountId, role, password: `the password of ${email}`, userId: '' };
}
