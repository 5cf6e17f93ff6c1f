import { readFileSync } from 'node:fs';
import { afterAll, afterEach, expect, inject } from 'vitest';
import type { Host } from './document.ts';
import { observeFetch, takeFaults, writeMet } from './observer.ts';

// Vitest's set-up file of the end-to-end suites: every answer of the run under test, and every delivery that their receivers
// get, is judged by the OpenAPI document. What it does not describe fails the test that met it.

const { outputsFile, contractFile } = inject('run');
let hosts: ReadonlyMap<string, Host> | undefined;

observeFetch(origin => {
  hosts ??= readHosts();
  return hosts?.get(origin);
});

afterEach(() => expect(takeFaults(), 'what docs/api/*.openapi.json do not describe').toEqual([]));
afterAll(() => {
  writeMet(contractFile);
  expect(takeFaults(), 'what docs/api/*.openapi.json do not describe').toEqual([]);
});

/** Reads the origins of the run; `undefined` until it has started. */
function readHosts(): ReadonlyMap<string, Host> | undefined {
  try {
    const content = JSON.parse(readFileSync(outputsFile, 'utf8'));
    const { AuthUrl, BaseUrl } = 'AuthUrl' in content ? content : Object.assign({}, ...Object.values(content));
    return new Map([
      [new URL(AuthUrl).origin, 'auth'],
      [new URL(BaseUrl).origin, 'base'],
    ]);
  } catch {
    return undefined;
  }
}
