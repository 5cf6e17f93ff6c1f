import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiRoutes } from '../../lambdas/api/routes.ts';
import { composeDiscovery } from '../../lambdas/auth/endpoints/discovery.composition.ts';
import { authRoutes } from '../../lambdas/auth/routes.ts';
import { deliveryRoutes } from '../../lambdas/delivery/api/routes.ts';
import { maxStoredAttempts, settled } from '../../lambdas/delivery/delivery.ts';
import { unregisteredEventsId } from '../../lambdas/delivery/intake/unregistered-events.ts';
import { slownessId } from '../../lambdas/delivery/lanes/slow-since.ts';
import { itemFromDelivery } from '../../lambdas/delivery/store/delivery-item.ts';
import { headKey } from '../../lambdas/delivery/store/head-key.ts';
import type { Item } from '../../lambdas/platform/aws/dynamo.ts';
import type { OperationId, Route } from '../../lambdas/platform/route-table.ts';
import { webhookRoutes } from '../../lambdas/webhooks/routes.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { type AuthService, authEnvironment, startAuthService } from '../support/auth-service.ts';
import { putAll } from '../support/database/put-all.ts';
import { httpRequest } from '../support/http-request.ts';
import { readPage } from '../support/markdown-page.ts';
import type { StageRequest } from '../support/stage.ts';
import { makeStage, type Stage, schedule } from '../support/stage.ts';
import { type CallCounts, countCalls, countCommands } from './call-counts.ts';
import { aDelivery, aRecord, noon } from './delivery/builders.ts';

// These tests compare the cost of each request with the maximum on the capacity page. For {base_url}, the store is full.

const routes: readonly Route[] = [authRoutes, apiRoutes, webhookRoutes, deliveryRoutes].flatMap(table =>
  Object.values<Route>(table),
);
const [rows, commandRows] = readPage('docs/capacity.md')
  .tables.filter(({ heading }) => heading === 'Maximum cost of a request')
  .map(table => table.rows);
const rowOf = (request: string) => {
  const [, ...cells] = rows?.find(([name]) => name?.replaceAll('`', '') === request) ?? [];
  const [calls = Number.NaN, read = Number.NaN, written = Number.NaN] = cells.map(cell =>
    Number(cell.replace(',', '')),
  );
  return { calls, read, written };
};
const operations = new Map(
  routes.flatMap(({ path, operations: all }) =>
    Object.entries(all).map(([id, { method }]) => [id, `${method} ${path}`] as const),
  ),
);

const expectWithin = (request: string, costs: readonly CallCounts[]) => {
  const row = rowOf(request);
  for (const name of ['calls', 'read', 'written'] as const)
    expect(Math.max(...costs.map(counts => counts[name])), `${name} of ${request}`).toBeLessThanOrEqual(row[name]);
};

it('the capacity page has exactly one row for each operation', () => {
  const names = rows?.map(([name = '']) => name.replaceAll('`', ''));
  expect(names).toEqual([...operations.values(), 'the token of a request to {base_url}']);
});

it('the capacity page has exactly one row for each operator command', async () => {
  const verbsOf = async (...words: string[]) => {
    const { stdout } = await runOpsInProcess([...words, '--help']);
    const list = stdout.split('Commands:\n')[1]?.split('\n\n')[0] ?? '';
    return [...list.matchAll(/^ {2}([a-z-]+)/gm)].flatMap(([, verb = '']) => (verb === 'help' ? [] : [verb]));
  };
  const commands: string[] = ['smoke']; // this command also runs without a verb
  for (const noun of await verbsOf()) {
    const verbs = await verbsOf(noun);
    commands.push(...(verbs.length === 0 ? [noun] : verbs.map(verb => `${noun} ${verb}`)));
  }
  const rowNames = (commandRows ?? []).flatMap(([names = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );
  expect(rowNames.toSorted()).toEqual(commands.toSorted());
});

describe('with a full store, the cost at {base_url}', () => {
  const [accountId, registered, gone, small, ninePages, thinPages, replayed] = [
    'conta-1',
    'demanda.criada',
    'demanda.cancelada',
    'mensagem.recebida',
    'proposta.recebida',
    'demanda.finalizada',
    'proposta.contratada', // has a stored replay but no webhook
  ] as const;
  const at = (eventName: EventName, path = '') => `/v1/webhooks/${eventName}${path}`;
  const range = { desde: '2026-11-19T00:00:00Z', ate: '2026-11-21T00:00:00Z', estado: 'falhou' };
  const unknown = `evt_${'x'.repeat(27)}`;
  const noReplay = 'reenvio_0000000000000000000000';
  const full = `evt_${'f'.repeat(27)}`;
  const ended = `evt_${'e'.repeat(27)}`;
  let stage: Stage;
  let counts: ReturnType<typeof countCommands>;

  /** Returns deliveries from the hour before noon. The newest `expired` deliveries have expired, but are still in the indexes. */
  const history = (eventName: EventName, state: 'failed' | 'delivered', number: number, expired = 100): Item[] =>
    Array.from({ length: number }, (_, back) => {
      const id = `evt_${state[0]}${EVENT_NAMES.indexOf(eventName)}${String(back).padStart(25, '0')}`;
      const createdAt = noon - 1_000 - back * 1_000;
      const attempted = { ...aDelivery({ id, eventName, createdAt, scheduledAt: createdAt }), attempts: [aRecord()] };
      const delivery = settled(attempted, state, createdAt);
      return { ...itemFromDelivery(delivery), ...(back < expired && { ttl: 1 }) };
    });

  beforeAll(async () => {
    stage = makeStage(schedule, 0); // without consumers
    const { dynamo } = stage;
    const records = Array.from({ length: maxStoredAttempts }, (_, number) =>
      aRecord({ number: number + 1, response: 'x' }),
    );
    const wait = { nextAttemptAt: noon + 3_600_000, sweepAt: noon + 3_600_000, overdueCount: 0 };
    const waiting = aDelivery({ id: full, attempts: records, createdAt: noon - 5_000_000, attempt: 31, wait });
    for (const eventName of EVENT_NAMES.filter(name => name !== gone)) await stage.register({ eventName });
    await stage.store.create(waiting);
    await stage.store.create(settled(aDelivery({ id: ended, createdAt: noon - 5_000_000 }), 'delivered', noon));
    await putAll(dynamo, 'Deliveries', [
      ...history(registered, 'failed', 2_000),
      ...history(registered, 'delivered', 1_200),
      ...history(gone, 'failed', 1_200, 1_200),
      ...history(gone, 'delivered', 1_200, 1_200),
      ...history(small, 'failed', 100, 0),
      ...history(ninePages, 'failed', 850, 0),
      // all but 49 deliveries on the first four pages belong to an earlier registration
      ...history(thinPages, 'failed', 500, 0).map((item, at) =>
        at < 400 && at % 100 >= (at < 100 ? 13 : 12) ? { ...item, webhookId: 'webhook-0' } : item,
      ),
      // the responses to the attempts before the latest thirty
      ...Array.from({ length: 300 }, (_, at) => ({ id: full, part: `answer#${at}#resent`, response: 'x' })),
      ...EVENT_NAMES.map(eventName => ({
        ...headKey('', slownessId({ accountId, eventName })).key,
        accountId,
        eventName,
        slowSince: noon,
      })),
      {
        ...headKey('', unregisteredEventsId(accountId)).key,
        ...Object.fromEntries(EVENT_NAMES.map(eventName => [eventName, noon])),
      },
    ]);
    await stage.request('POST', at(replayed, '/reenvios'), { body: range });
    await stage.request('DELETE', at(replayed));
    counts = countCommands(stage);
  }, 60_000);

  const to =
    (method: string, path: string, sent: StageRequest = {}) =>
    () =>
      stage.request(method, path, sent);
  const toSuspended =
    (method: string, eventName: EventName, suspensionReason: 'gone' | 'operator', sent: StageRequest = {}) =>
    async () => {
      await stage.register({ eventName, status: 'suspended', suspensionReason });
      counts.take();
      await stage.request(method, at(eventName), sent);
    };
  const url = 'https://receiver.example.com/';

  /** The requests for each operation. The test sends each request twice, once while its conditional writes fail. */
  const requests: Record<
    OperationId<typeof webhookRoutes> | OperationId<typeof deliveryRoutes>,
    readonly (() => Promise<unknown>)[]
  > = {
    listWebhooks: [to('GET', '/v1/webhooks')],
    registerWebhook: [to('POST', '/v1/webhooks', { body: { evento: registered, url } })],
    getWebhook: [to('GET', at(registered)), to('GET', at(gone))],
    replaceWebhook: [
      to('PUT', at(registered), { body: { url } }),
      to('PUT', at(gone), { body: { url } }),
      toSuspended('PUT', 'mensagem.recebida', 'gone', { body: { url } }), // announces the end of a suspension
    ],
    rotateSecret: [to('POST', at(registered, '/segredo')), to('POST', at(gone, '/segredo'))],
    reactivateWebhook: [to('POST', at(registered, '/reativacao')), to('POST', at(gone, '/reativacao'))],
    deleteWebhook: [
      to('DELETE', at(gone)),
      toSuspended('DELETE', 'reembolso.solicitado', 'operator'), // replaces the item, because the suspension remains
    ],
    sendTest: [to('POST', at(registered, '/teste')), to('POST', at(gone, '/teste'))],
    listDeliveries: [
      ...['', 'estado=falhou&', 'estado=cancelada&', 'estado=pendente&', 'estado=entregue&'].flatMap(query =>
        [registered, gone].map(event => to('GET', at(event, '/entregas'), { query: `${query}limite=100` })),
      ),
      async () => {
        const query = 'limite=100';
        const page = await stage.request('GET', at(registered, '/entregas'), { query });
        counts.take();
        const cursor = page?.json.proximo_cursor;
        await stage.request('GET', at(registered, '/entregas'), { query: `${query}&cursor=${cursor}` });
      },
    ],
    getDelivery: [to('GET', at(registered, `/entregas/${full}`)), to('GET', at(gone, `/entregas/${unknown}`))],
    resendDelivery: [
      ...[full, ended].map(id => to('POST', at(registered, `/entregas/${id}/reenvio`))),
      to('POST', at(gone, `/entregas/${unknown}/reenvio`)),
    ],
    startReplay: [
      to('POST', at(registered, '/reenvios'), { body: range }),
      to('POST', at(registered, '/reenvios'), { body: range }), // the first is in progress
      async () => {
        const existing = await stage.request('POST', at(registered, '/reenvios'), { body: range });
        await stage.request('DELETE', String(existing?.headers.location));
        counts.take();
        await stage.request('POST', at(registered, '/reenvios'), { body: range }); // the previous replay is stored
      },
      to('POST', at(small, '/reenvios'), { body: range }), // all are sent
      to('POST', at(ninePages, '/reenvios'), { body: range }), // more than a page
      to('POST', at(thinPages, '/reenvios'), { body: range }),
      to('POST', at(gone, '/reenvios'), { body: range }),
    ],
    getReplay: [registered, gone, replayed].map(event => to('GET', at(event, `/reenvios/${noReplay}`))),
    cancelReplay: [
      ...[registered, gone, replayed].map(event => to('DELETE', at(event, `/reenvios/${noReplay}`))),
      async () => {
        const existing = await stage.request('POST', at(registered, '/reenvios'), { body: range });
        counts.take();
        await stage.request('DELETE', String(existing?.headers.location));
      },
    ],
  };

  it.each(Object.entries(requests))('of %s is within its row', async (id, attempts) => {
    const costs: CallCounts[] = [];
    for (const request of attempts) {
      for (const isContended of [true, false]) {
        counts.take();
        await (isContended ? counts.contended(request) : request());
        costs.push(counts.take());
      }
    }
    expectWithin(operations.get(id) ?? id, costs);
  });
});

describe('the cost at {auth_url}', () => {
  let service: AuthService;
  let counts: ReturnType<typeof countCalls>;
  let login: Record<string, string>;
  let refresh: Record<string, string>;
  let form: Record<string, string>;

  beforeAll(async () => {
    service = await startAuthService();
    const { id, secret } = await service.makeClient();
    const { username, password } = await service.makeUser();
    form = { client_id: id, client_secret: secret };
    login = { ...form, grant_type: 'password', username, password };
    const granted = await service.post('token', login);
    refresh = { ...form, grant_type: 'refresh_token', refresh_token: granted.json.refresh_token };
    counts = countCalls(service.database);
  });
  afterAll(() => service.stop());

  const counted = async (request: () => Promise<unknown>) => {
    counts.take();
    await request();
    return counts.take();
  };

  it('of issueToken is within its row', async () => {
    const costs: CallCounts[] = [];
    costs.push(await counted(() => service.post('token', login)));
    for (const name of ['password', 'client_secret', 'username'])
      costs.push(await counted(() => service.post('token', { ...login, [name]: 'wrong' })));
    costs.push(await counted(() => service.post('token', refresh)));
    costs.push(await counted(() => service.post('token', refresh))); // within the grace period
    service.clock.advance(60_000);
    costs.push(await counted(() => service.post('token', refresh))); // reuse ends the session
    costs.push(await counted(() => service.post('token', refresh)));
    for (const password of [String(login.password), 'wrong'])
      costs.push(await counts.contended(() => counted(() => service.post('token', { ...login, password }))));
    expectWithin('POST /oauth/v1/token', costs);
  });

  it.each([
    ['introspect', 'POST /oauth/v1/introspect'],
    ['revoke', 'POST /oauth/v1/revoke'],
  ] as const)('of %s is within its row', async (endpoint, request) => {
    const { json } = await service.post('token', login);
    const costs: CallCounts[] = [];
    for (const token of [json.access_token, json.refresh_token, 'unknown']) {
      costs.push(await counted(() => service.post(endpoint, { ...form, token })));
      costs.push(await counts.contended(() => counted(() => service.post(endpoint, { ...form, token }))));
    }
    costs.push(await counted(() => service.post(endpoint, { ...form, client_secret: 'x', token: 'x' })));
    expectWithin(request, costs);
  });

  it('of the public documents is within their rows', async () => {
    for (const path of [authRoutes.Jwks.path, authRoutes.Metadata.path]) {
      const discovery = composeDiscovery(authEnvironment, service.runtime, service.telemetry);
      expectWithin(`GET ${path}`, [await counted(() => discovery(httpRequest({ method: 'GET', path })))]);
    }
  });

  it('of checking the token in a {base_url} request is within its row', async () => {
    const { json } = await service.post('token', login);
    const costs = await counted(() => service.authenticate(`Bearer ${json.access_token}`));
    expectWithin('the token of a request to {base_url}', [costs]);
  });
});
