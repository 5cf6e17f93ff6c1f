import type { Role } from '../../../lambdas/auth/principals/user.ts';
import type { NewClient } from '../../../ops/stores/client-store.ts';

export interface WorldClient extends NewClient {
  /** The set-up creates the id and the secret. */
  clientId: string;
  clientSecret: string;
}

export interface WorldUser {
  email: string;
  readonly accountId: string;
  readonly role: Role;
  /** The current password. */
  password: string;
  /** The set-up creates the id. */
  userId: string;
}

/** The clients and users of a world. */
export type Population = ReturnType<typeof makePopulation>;

/** Creates clients and users. They are the same in each world, and only their actions differ. */
export function makePopulation() {
  const both = ['password', 'refresh_token'] as const;
  const clients = {
    web: client({ name: 'web', grants: both }),
    mobile: client({ name: 'mobile', grants: both, graceSeconds: 10 }),
    strict: client({ name: 'strict', grants: both, graceSeconds: 0 }),
    bound: client({ name: 'bound', grants: both, accountId: 'conta-1', scopes: ['webhooks:read'] }),
    once: client({ name: 'once', grants: ['password'] }),
    /** An operator removes its password grant when all users have logged in. */
    keeper: client({ name: 'keeper', grants: both }),
    auditor: client({ name: 'auditor', grants: both, introspect: true }),
  };
  const users = {
    ana: user('ana@conta-1.example', 'conta-1'),
    bia: user('bia@conta-1.example', 'conta-1', 'member'),
    caio: user('caio@conta-2.example', 'conta-2'),
    duda: user('duda@conta-2.example', 'conta-2'),
    /** The guessers' targets. */
    victim: user('eva@conta-1.example', 'conta-1'),
    /** A user with failures at several clients that are a day old. */
    dormant: user('fabio@conta-2.example', 'conta-2'),
  };
  return { clients, users };
}

function client(described: NewClient): WorldClient {
  return { ...described, clientId: '', clientSecret: '' };
}

function user(email: string, accountId: string, role: Role = 'admin'): WorldUser {
  return { email, accountId, role, password: `the password of ${email}`, userId: '' };
}
