import { createServer, type Server } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { type Client, unique } from '../../tools/support/accounts.ts';
import { listen } from '../../tools/support/listen.ts';
import { mapHost, type Receiver, type ScriptedResponse, startReceiver } from '../support/e2e-receiver.ts';
import { createClient, openSession, publish, register, untilSettled } from '../support/e2e-service.ts';
import { describeWith, run } from '../support/e2e-target.ts';

const attempts = run.attempts ?? 0;
/** The time limit for all attempts of a delivery, in milliseconds. One attempt may time out. */
const exhaustionLimit = 40_000 + attempts * 5_000;

let client: Client;
let receiver: Receiver;

beforeAll(async () => {
  if (run.hostsFile === null) return;
  [client, receiver] = await Promise.all([createClient(), startReceiver('retry')]);
});

afterAll(() => receiver?.stop());

// Each test uses its own account and paths, because a test may run again on a busy machine.

describeWith(['names', 'schedule'], 'a failed attempt', () => {
  const failures: readonly (readonly [string, ScriptedResponse])[] = [
    ['500', { status: 500, body: 'no' }],
    ['404', { status: 404 }],
    ['a redirect', { status: 302, headers: { location: 'https://elsewhere.example.com/' } }],
    ['no response', 'hang'],
    ['a reset connection', 'reset'],
  ];

  it.concurrent.each(failures)('with %s is retried with the same id and a valid signature', async (_, failure) => {
    const path = `/${unique()}`;
    receiver.script(path, failure, { status: 200 });
    const session = await openSession(client);
    const secret = await register(session, { evento: 'demanda.criada', url: receiver.url(path) });
    await publish(session.user.account, { event: 'demanda.criada', id_demanda: 1 });

    const [first, second] = await receiver.waitFor(path, 2, exhaustionLimit);
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    for (const delivery of [first, second]) {
      new Webhook(secret).verify(delivery?.body ?? '', (delivery?.headers ?? {}) as Record<string, string>);
    }
  });
});

describeWith(['names', 'schedule'], 'a delivery', () => {
  it.concurrent('ends as "falhou" after the last attempt, and does not follow redirects', async () => {
    const [path, redirected] = [`/${unique()}`, `/${unique()}`];
    const redirect = { status: 307, headers: { location: receiver.url(redirected) } };
    receiver.script(path, { status: 500 }, redirect);
    const session = await openSession(client);
    await register(session, { evento: 'demanda.cancelada', url: receiver.url(path) });
    const id = await publish(session.user.account, { event: 'demanda.cancelada', id_demanda: 2 });

    await receiver.waitFor(path, attempts, exhaustionLimit);
    const { state, attempts: outcomes } = await untilSettled(id, exhaustionLimit);
    expect(state).toBe('falhou');
    expect(outcomes.map(({ resultado, status }) => [resultado, status])).toEqual([
      ['http', 500],
      ...Array.from({ length: attempts - 1 }, () => ['http', 307]),
    ]);
    expect(receiver.received(path).length).toBe(attempts);
    expect(receiver.received(redirected)).toEqual([]);
  });

  it.concurrent('does not connect to an address that is not public', async () => {
    // The name resolves to a public address during registration, and then to a server on this machine.
    let connections = 0;
    const server: Server = createServer(socket => {
      connections += 1;
      socket.destroy();
    });
    try {
      const port = await listen(server);
      const name = `rebound-${unique()}.example.com`;
      await mapHost(name, ['93.184.215.14']);
      const session = await openSession(client);
      await register(session, { evento: 'proposta.recebida', url: `https://${name}:${port}/` });
      await mapHost(name, ['127.0.0.1']);
      const id = await publish(session.user.account, { event: 'proposta.recebida', ...businessEvents.exampleValues });

      const { state, attempts: outcomes } = await untilSettled(id, exhaustionLimit);
      expect(state).toBe('falhou');
      expect(outcomes.map(attempt => attempt.resultado)).toEqual(Array.from({ length: attempts }, () => 'bloqueada'));
      expect(connections).toBe(0);
    } finally {
      server.close();
    }
  });
});
