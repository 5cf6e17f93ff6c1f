import { afterAll, afterEach, expect } from 'vitest';
import { authUrl, baseUrl, run } from '../e2e-target.ts';
import type { Host } from './document.ts';
import { observeFetch, takeFaults, writeMet } from './observer.ts';

// Vitest's set-up file of the end-to-end suites: the OpenAPI document judges every answer of the run under test, and every delivery that their
// receivers get. An answer or a delivery that it does not describe fails the test that met it.

const hosts = new Map<string, Host>([
  [new URL(authUrl).origin, 'auth'],
  [new URL(baseUrl).origin, 'base'],
]);
observeFetch(origin => hosts.get(origin));

afterEach(() => expect(takeFaults(), 'what docs/api/*.openapi.json do not describe').toEqual([]));
afterAll(() => {
  writeMet(run.contractFile);
  expect(takeFaults(), 'what docs/api/*.openapi.json do not describe').toEqual([]);
});
