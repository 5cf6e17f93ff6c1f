import type { Role } from './user.ts';

/** All scopes, in output order. */
export const scopes = ['webhooks:read', 'webhooks:manage'] as const;

export type Scope = (typeof scopes)[number];

/** Returns the scopes that both the client and the user's role allow. */
export function scopesAllowed(
  client: { readonly scopes: readonly Scope[] },
  user: { readonly role: Role },
): ReadonlySet<Scope> {
  return commonScopes(new Set(client.scopes), scopesOfRole[user.role]);
}

/** Parses the space-separated names in a `scope` parameter (RFC 6749 section 3.3). Returns `undefined` if a name is unknown. */
export function parseScope(parameter: string): ReadonlySet<Scope> | undefined {
  const names = parameter.split(/\s+/).filter(name => name !== '');
  return names.every(isScope) ? new Set(names) : undefined;
}

export function commonScopes(one: ReadonlySet<Scope>, other: ReadonlySet<Scope>): ReadonlySet<Scope> {
  return new Set([...one].filter(scope => other.has(scope)));
}

/** Formats scopes for tokens, responses and stored sessions. */
export function formatScope(granted: ReadonlySet<Scope>): string {
  return scopes.filter(scope => granted.has(scope)).join(' ');
}

/** Parses the output of `formatScope`. */
export function storedScope(stored: string): ReadonlySet<Scope> {
  return new Set(stored.split(' ').filter(isScope));
}

const allScopes: ReadonlySet<Scope> = new Set(scopes);

/** The scopes of each role. A change to a user's role takes effect immediately. */
const scopesOfRole: Record<Role, ReadonlySet<Scope>> = { admin: allScopes, member: new Set() };

function isScope(name: string): name is Scope {
  return scopes.some(scope => scope === name);
}
