import { expect, it } from 'vitest';
import { makeRouteTable } from '../../../src/local/http-api/routes.ts';

const table = (...routeKeys: string[]) => makeRouteTable(routeKeys.map(routeKey => ({ routeKey, target: routeKey })));

const documented = table('GET /pets/dog/1', 'GET /pets/dog/{id}', 'GET /pets/{proxy+}', 'ANY /{proxy+}', '$default');
const own = table('$default', 'ANY /v1/webhooks/{proxy+}', 'ANY /v1/webhooks');
const mixed = table('ANY /a/{x}', 'GET /a/{x}', 'ANY /a/b', 'POST /{proxy+}', 'GET /');

it.each([
  // The examples of the developer guide.
  [documented, 'GET', '/pets/dog/1', 'GET /pets/dog/1', {}],
  [documented, 'GET', '/pets/dog/2', 'GET /pets/dog/{id}', { id: '2' }],
  [documented, 'GET', '/pets/cat/1', 'GET /pets/{proxy+}', { proxy: 'cat/1' }],
  [documented, 'POST', '/test/5', 'ANY /{proxy+}', { proxy: 'test/5' }],
  [documented, 'POST', '/', '$default', {}],
  // This service's own.
  [own, 'POST', '/v1/webhooks', 'ANY /v1/webhooks', {}],
  [own, 'GET', '/v1/webhooks/demanda.criada', 'ANY /v1/webhooks/{proxy+}', { proxy: 'demanda.criada' }],
  [own, 'GET', '/v1/webhooks/a/entregas/b', 'ANY /v1/webhooks/{proxy+}', { proxy: 'a/entregas/b' }],
  [own, 'GET', '/v1/webhooks/', '$default', {}],
  [own, 'GET', '/v1/Webhooks', '$default', {}],
  [own, 'GET', '/v1', '$default', {}],
  // Literal before parameter before greedy; a method of its own before ANY.
  [mixed, 'GET', '/a/b', 'ANY /a/b', {}],
  [mixed, 'GET', '/a/c', 'GET /a/{x}', { x: 'c' }],
  [mixed, 'PUT', '/a/c', 'ANY /a/{x}', { x: 'c' }],
  [mixed, 'POST', '/a/c', 'ANY /a/{x}', { x: 'c' }],
  [mixed, 'POST', '/x', 'POST /{proxy+}', { proxy: 'x' }],
  [mixed, 'GET', '/', 'GET /', {}],
])('%# %s %s %s', (find, method, path, routeKey, pathParameters) => {
  expect(find(method, path)).toEqual({ routeKey, target: routeKey, pathParameters });
});

it.each([
  [mixed, 'GET', '/x'],
  [mixed, 'POST', '/'],
  [mixed, 'GET', '/a/'],
  [mixed, 'GET', '/a/b/c'],
])('%# nothing fits %s %s %s', (find, method, path) => {
  expect(find(method, path)).toBeUndefined();
});
