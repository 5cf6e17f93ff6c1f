import { appendFileSync, readFileSync } from 'node:fs';
import type { Host } from './document.ts';
import { type Answered, type Arrived, judgeDelivery, judgeResponse } from './judge.ts';

/** The answers that this process has met, as JSON. */
const met = new Set<string>();

/** The faults that were met since they were last asked for: parts that the document does not describe. */
const faults: string[] = [];

/**
 * Makes `fetch` judge every answer of the run under test by the OpenAPI document. A test gets its answer in any case; its faults
 * are collected.
 *
 * @param hostOf - the host that an origin is, if it is one of the run's.
 */
export function observeFetch(hostOf: (origin: string) => Host | undefined): void {
  const { fetch } = globalThis;
  if (isObserved in fetch) return;
  const observed = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await fetch(input, init);
    const { origin, pathname } = new URL(input instanceof Request ? input.url : input);
    const host = hostOf(origin) ?? hostOfPath(origin, pathname);
    if (!host) return response;
    const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase();
    const { status, headers } = response;
    const body = await response.clone().text();
    const judgement = judgeResponse({ host, method, path: decoded(pathname), status, headers, body });
    note(judgement.met);
    faults.push(...judgement.faults.map(fault => `${method} ${pathname}: ${status}: ${fault}`));
    return response;
  };
  globalThis.fetch = Object.assign(observed, { [isObserved]: true });
}

/** Judges a delivery that a receiver got. */
export function observeDelivery(arrived: Arrived): void {
  const judgement = judgeDelivery(arrived);
  note({ operation: `deliver.${judgement.event}`, status: '', code: '' });
  faults.push(...judgement.faults.map(fault => `Delivery of ${judgement.event}: ${fault}`));
}

/** Returns the faults that were met since the last call. */
export function takeFaults(): string[] {
  return faults.splice(0);
}

/** Adds the answers that were met since the last call to the file of all processes. */
export function writeMet(file: string): void {
  appendFileSync(file, [...met].map(answered => `${answered}\n`).join(''));
  met.clear();
}

/** Reads that file. */
export function readMet(file: string): readonly Answered[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map(line => JSON.parse(line));
}

const isObserved = Symbol.for('emissor.observed');

function note({ operation, status, code }: Answered): void {
  met.add(JSON.stringify({ operation, status, code }));
}

/** A local run that a suite starts for itself is known by its paths. */
function hostOfPath(origin: string, path: string): Host | undefined {
  if (!origin.startsWith('http://127.0.0.1:')) return undefined;
  if (path.startsWith('/v1/webhooks') || path === '/.well-known/oauth-protected-resource') return 'base';
  return path.startsWith('/oauth/v1/') || path.startsWith('/.well-known/') ? 'auth' : undefined;
}

/** The gateway decodes paths; what it cannot decode stays as it is. */
function decoded(path: string): string {
  return path.replace(/(?:%[0-9a-f]{2})+/gi, encoded => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });
}
