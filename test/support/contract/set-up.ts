import { afterAll, afterEach, expect } from 'vitest';
import { authUrl, baseUrl } from '../e2e-target.ts';
import { contractFaults, responseFaults } from './check.ts';
import type { Host } from './document.ts';

// Sets up the end-to-end suites. A test fails if a response from the run, or a delivery to a receiver, does not match the OpenAPI document.

const hosts = new Map<string, Host>([
  [new URL(authUrl).origin, 'auth'],
  [new URL(baseUrl).origin, 'base'],
]);
const isObserved = Symbol.for('emissor.observed'); // suites share a process, and each suite runs this file
const { fetch } = globalThis;
if (!(isObserved in fetch)) globalThis.fetch = Object.assign(observedFetch, { [isObserved]: true });

const expectNoFaults = () => expect(contractFaults.splice(0), 'differences from docs/api/*.openapi.json').toEqual([]);
afterEach(expectNoFaults);
afterAll(expectNoFaults);

async function observedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  const { origin, pathname } = new URL(input instanceof Request ? input.url : input);
  const host = hosts.get(origin) ?? hostOfPath(origin, pathname);
  if (!host) return response;
  const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase();
  const { status, headers } = response;
  const body = await response.clone().text();
  const faults = responseFaults({ host, method, path: decodePath(pathname), status, headers, body });
  contractFaults.push(...faults.map(fault => `${method} ${pathname}: ${status}: ${fault}`));
  return response;
}

/** Returns the host for a path on a local run that a suite has started. */
function hostOfPath(origin: string, path: string): Host | undefined {
  if (!origin.startsWith('http://127.0.0.1:')) return undefined;
  if (path.startsWith('/v1/webhooks') || path === '/.well-known/oauth-protected-resource') return 'base';
  return path.startsWith('/oauth/v1/') || path.startsWith('/.well-known/') ? 'auth' : undefined;
}

/** Decodes a path as the gateway does. Malformed escapes remain unchanged. */
function decodePath(path: string): string {
  return path.replace(/(?:%[0-9a-f]{2})+/gi, encoded => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });
}
