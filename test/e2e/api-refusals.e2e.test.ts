import { beforeAll, expect, it } from 'vitest';
import type { Client } from '../../tools/support/accounts.ts';
import { passwordGrant } from '../../tools/support/service-client.ts';
import { describeApiRefusals, type Tokens } from '../support/api-refusals.ts';
import { ops } from '../support/e2e-ops.ts';
import { type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import {
  callApi,
  createClient,
  createUser,
  deliveryId,
  expectProblem,
  getTokens,
  logIn,
  openSession,
  publish,
  register,
  type Session,
  settled,
} from '../support/e2e-service.ts';
import { describeWith, until } from '../support/e2e-target.ts';

// Unit tests describe the same in process, in both languages.

describeApiRefusals({
  isBrief: true,
  makeTokens,
  send: async (method, path, { query, ...request }) => {
    const target = query === undefined ? path : `${path}?${query}`;
    const { status, headers, text } = await callApi(method, target, request);
    return { status, headers: Object.fromEntries(headers), text };
  },
});

async function makeTokens(): Promise<Tokens> {
  const [client, limited, admin, member] = await Promise.all([
    createClient(),
    createClient(),
    createUser(),
    createUser({ role: 'member' }),
  ]);
  const narrow = (of: Client, scope: string) => getTokens({ ...passwordGrant(of, admin), scope });
  const [every, read, manage, none, membership] = await Promise.all([
    logIn(client, admin),
    narrow(client, 'webhooks:read'),
    narrow(client, 'webhooks:manage'),
    narrow(limited, 'webhooks:read'),
    logIn(client, member),
  ]);
  await ops(['clients', 'update', limited.clientId, '--scope', 'webhooks:manage']); // what its token has is no longer allowed
  return {
    admin: every.access_token,
    reader: read.access_token,
    manager: manage.access_token,
    unscoped: none.access_token,
    member: membership.access_token,
  };
}

const evento = 'reembolso.solicitado';
const base = `/v1/webhooks/${evento}`;
const day = 86_400_000;

describeWith(['names'], 'what stands in the way', () => {
  let receiver: Receiver;
  let session: Session;
  beforeAll(async () => {
    receiver = await startReceiver('conflicts');
    session = await openSession(await createClient());
    await register(session, { evento, url: receiver.url('/conflicts') });
    return () => receiver.stop();
  });

  const call = (method: string, path: string, body?: unknown) =>
    callApi(method, base + path, { token: session.token, ...(body === undefined ? {} : { body }) });
  const range = (estado: string) => ({
    desde: new Date(Date.now() - day).toISOString(),
    ate: new Date(Date.now() + day).toISOString(),
    estado,
  });

  it('a fifth replaced secret', async () => {
    for (let replaced = 1; replaced <= 4; replaced++)
      expect(await call('POST', '/segredo')).toMatchObject({ status: 201 });
    const refused = await call('POST', '/segredo');
    expectProblem(refused, 409, 'too_many_secrets');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(86_000);
    expect(await call('POST', '/segredo', { imediato: true })).toMatchObject({ status: 201 });
  });

  it('a test is not sent again, and there is a limit of tests a minute', async () => {
    const answers = await Promise.all(Array.from({ length: 21 }, () => call('POST', '/teste')));
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(0);
    for (const answer of limited) expectProblem(answer, 429, 'rate_limited');
    const sent = answers.find(({ status }) => status === 202);
    expectProblem(await call('POST', `/entregas/${sent?.json?.id}/reenvio`), 409, 'test_delivery');
    expect((await call('HEAD', `/entregas/${sent?.json?.id}`)).status).toBe(200);
  });

  it('a delivery or a replay that is not there', async () => {
    const none = {
      entrega: '/entregas/evt_000000000000000000000000000',
      reenvio: '/reenvios/reenvio_0000000000000000000000',
    };
    expectProblem(await call('POST', `${none.entrega}/reenvio`), 404, 'delivery_not_found');
    expectProblem(await call('GET', none.reenvio), 404, 'replay_not_found');
    expectProblem(await call('DELETE', none.reenvio), 404, 'replay_not_found');
    expect((await call('HEAD', '/entregas')).status).toBe(200);
    expect((await callApi('HEAD', '/v1/webhooks', { token: session.token })).status).toBe(200);
  });

  it('a suspension, and a replay under way', async () => {
    const { account } = session.user;
    await ops(['webhooks', 'suspend', '--account', account, '--event', evento]);
    const held = 80; // one page of the list, and more than a replay sends at once
    const event = { event: evento, id_proposta: 1 };
    await Promise.all(Array.from({ length: held }, (_, at) => publish(account, { ...event, id_demanda: at + 1 })));
    await until(`${held} held deliveries`, async () => {
      const { json } = await call('GET', '/entregas?estado=retida&limite=100');
      return Array.isArray(json?.entregas) && json.entregas.length === held ? true : undefined;
    });
    expectProblem(await call('POST', '/reenvios', range('retida')), 409, 'webhook_suspended');
    await ops(['webhooks', 'reactivate', '--account', account, '--event', evento]);

    const started = await call('POST', '/reenvios', range('retida'));
    expect(started).toMatchObject({ status: 202 });
    expectProblem(await call('POST', '/reenvios', range('retida')), 409, 'replay_in_progress');
    const own = `/reenvios/${started.json?.id}`;
    expect((await call('HEAD', own)).status).toBe(200);
  });

  it('sixty resends in a minute', async () => {
    const { account } = session.user;
    const id = deliveryId(account, evento, await publish(account, { event: evento, id_demanda: 99, id_proposta: 1 }));
    expect(await settled(id)).toMatchObject({ state: 'entregue' });
    let refused: Awaited<ReturnType<typeof call>> | undefined;
    for (let sent = 0; sent < 150 && refused?.status !== 429; sent += 15) {
      const answers = await Promise.all(Array.from({ length: 15 }, () => call('POST', `/entregas/${id}/reenvio`)));
      refused = answers.find(({ status }) => status === 429);
    }
    if (!refused) throw new Error('No resend was refused.');
    expectProblem(refused, 429, 'rate_limited');
  });
});
