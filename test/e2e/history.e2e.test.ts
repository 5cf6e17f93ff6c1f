import { Webhook } from 'standardwebhooks';
import { beforeAll, expect, it } from 'vitest';
import { ops } from '../support/e2e-ops.ts';
import { type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import {
  callApi,
  createClient,
  expectProblem,
  openSession,
  publish,
  register,
  type Session,
  untilSettled,
} from '../support/e2e-service.ts';
import { describeWith, until } from '../support/e2e-target.ts';

const evento = 'demanda.criada';
const base = `/v1/webhooks/${evento}`;

describeWith(['names'], 'the history of a webhook', () => {
  let receiver: Receiver;
  let session: Session;
  let secret: string;

  beforeAll(async () => {
    receiver = await startReceiver('history');
    session = await openSession(await createClient());
    const autorizacao = 'Bearer s3cr3t/t0ken';
    secret = await register(session, { evento, url: receiver.url('/history'), autorizacao });
    return () => receiver.stop();
  });

  const call = (method: string, path: string, body?: unknown) =>
    callApi(method, base + path, { token: session.token, ...(body === undefined ? {} : { body }) });
  const account = () => session.user.account;

  /** Suspends the webhook by publishing an event to which the receiver responds with 410. Returns the id of the held delivery. */
  const suspendByEvent = async (): Promise<string> => {
    receiver.script('/history', { status: 410 });
    const id = await publish(account(), { event: evento, id_demanda: 2 });
    expect(await untilSettled(id)).toMatchObject({ state: 'retida' });
    expect((await call('GET', '')).json).toMatchObject({ estado: 'suspenso', motivo_suspensao: 'gone' });
    receiver.script('/history', { status: 200 });
    return id;
  };

  it("shows a signed test delivery, and masks the credential in the receiver's response", async () => {
    receiver.script('/history', { status: 200, body: '{"h":"Bearer s3cr3t\\/t0ken"}' }, { status: 200 });
    const { status, json } = await call('POST', '/teste');
    expect(status).toBe(202);
    const [sample] = await receiver.waitFor('/history', 1);
    expect(sample?.headers['webhook-id']).toBe(json?.id);
    expect(sample?.body).toBe('{"event":"demanda.criada","id_demanda":0}');
    new Webhook(secret).verify(sample?.body ?? '', (sample?.headers ?? {}) as Record<string, string>);
    const shown = await until('its outcome', async () => {
      const { json: delivery } = await call('GET', `/entregas/${json?.id}`);
      return delivery?.estado === 'pendente' ? undefined : delivery;
    });
    expect(shown).toMatchObject({
      estado: 'entregue',
      corpo: sample?.body,
      tentativas: [{ resultado: 'entregue', status: 200, resposta: '{"h":"***"}' }],
    });
    expectProblem(await call('POST', `/entregas/${json?.id}/reenvio`), 409, 'test_delivery');
  });

  it('contains the deliveries held during a suspension, which a replay sends after the reactivation', async () => {
    const held = await suspendByEvent();
    expectProblem(await call('POST', `/entregas/${held}/reenvio`), 409, 'webhook_suspended');
    expect((await call('POST', '/reativacao')).status).toBe(200);
    const body = { desde: new Date(0).toISOString(), ate: new Date().toISOString(), estado: 'retida' };
    const { status, headers, json } = await call('POST', '/reenvios', body);
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(`${base}/reenvios/${json?.id}`);
    expect(await untilSettled(held)).toMatchObject({ state: 'entregue' });
    expect((await call('GET', `/reenvios/${json?.id}`)).json).toMatchObject({ id: json?.id, enviadas: 1 });
    expect((await call('DELETE', `/reenvios/${json?.id}`)).status).toBe(204);
  });

  it('remains after the webhook is deleted, as does a suspension by an operator', async () => {
    const { json } = await call('GET', '/entregas?limite=1&estado=entregue');
    const [{ id } = { id: '' }] = (json?.entregas ?? []) as { id: string }[];
    const options = ['--account', account(), '--event', evento];
    await ops(['webhooks', 'suspend', ...options]);
    expect((await call('DELETE', '')).status).toBe(204);
    expectProblem(await call('GET', ''), 404, 'webhook_not_found');
    expect((await call('GET', `/entregas/${id}`)).json).toMatchObject({ id, estado: 'entregue' });
    expectProblem(await call('POST', `/entregas/${id}/reenvio`), 404, 'webhook_not_found');
    expect(await ops(['webhooks', 'show', ...options])).toMatchObject({ webhookId: null, status: 'suspenso' });

    const body = { evento, url: receiver.url('/history') };
    const second = await callApi('POST', '/v1/webhooks', { token: session.token, body });
    expect(second).toMatchObject({ status: 201, json: { estado: 'suspenso', motivo_suspensao: 'operador' } });
    expectProblem(await call('POST', '/reativacao'), 409, 'suspended_by_operator');
    await ops(['webhooks', 'reactivate', ...options]);
    expect((await call('GET', '')).json).toMatchObject({ estado: 'ativo' });
    expectProblem(await call('POST', `/entregas/${id}/reenvio`), 409, 'webhook_replaced');
  });
});
