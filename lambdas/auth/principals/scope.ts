import type { Role } from './user.ts';

/** All scopes, in the order in which they are written. */
export const scopes = ['webhooks:read', 'webhooks:manage'] as const;

/** A scope an access token may carry. */
export type Scope = (typeof scopes)[number];

/** Returns the scopes that both the client and the user's role allow. */
export function scopesAllowed(
  client: { readonly scopes: readonly Scope[] },
  user: { readonly role: Role },
): ReadonlySet<Scope> {
  return commonScopes(new Set(client.scopes), scopesOfRole[user.role]);
}

/** Reads a `scope` parameter: names separated by blanks, perhaps none (RFC 6749 section 3.3). `undefined` if a name is unknown. */
export function parseScope(parameter: string): ReadonlySet<Scope> | undefined {
  const names = parameter.split(/\s+/).filter(name => name !== '');
  return names.every(isScope) ? new Set(names) : undefined;
}

export function commonScopes(one: ReadonlySet<Scope>, other: ReadonlySet<Scope>): ReadonlySet<Scope> {
  return new Set([...one].filter(scope => other.has(scope)));
}

/** Formats scopes for tokens, responses and stored sessions; empty for none. */
export function formatScope(granted: ReadonlySet<Scope>): string {
  return scopes.filter(scope => granted.has(scope)).join(' ');
}

/** Reads a scope of `formatScope`. */
export function storedScope(stored: string): ReadonlySet<Scope> {
  return new Set(stored.split(' ').filter(isScope));
}

const allScopes: ReadonlySet<Scope> = new Set(scopes);

/** The scopes of a role. A change of the role holds at once. */
const scopesOfRole: Record<Role, ReadonlySet<Scope>> = { admin: allScopes, member: new Set() };

function isScope(name: string): name is Scope {
  return scopes.some(known => known === name);
}
