import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import { type Client, unique } from '../../tools/support/accounts.ts';
import { createClient, newAccount } from '../support/e2e-accounts.ts';
import { settled } from '../support/e2e-deliveries.ts';
import { deliveryId, type PublishedEvent, publish, send } from '../support/e2e-queues.ts';
import { type Received, type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import { demandsUrl, describeWith, plant } from '../support/e2e-target.ts';
import { callApi, openSession, register, type Session } from '../support/e2e-webhooks.ts';
import { blocksOf, readPage } from '../support/markdown-page.ts';

interface Sample {
  readonly published: PublishedEvent;
  readonly body: string;
}

const page = readPage('docs/en/events.md');

/** Every event of the interface, and the very bytes its receiver gets: those that integrators read of, and the greatest id. */
const samples: readonly Sample[] = EVENT_NAMES.map(event => {
  const [body = ''] = blocksOf(page, event).map(block => block.replace('https://demandas.example.com', demandsUrl));
  if (event !== 'demanda.finalizada') return { published: { event, ...businessEvents.exampleValues }, body };
  const id_demanda = Number.MAX_SAFE_INTEGER;
  return {
    published: { event, id_demanda },
    body: body.replace(`${businessEvents.exampleValues.id_demanda}`, `${id_demanda}`),
  };
});

const headersOf = ({ headers }: Received) => headers as Record<string, string>;

describeWith(['names'], 'an event', () => {
  let client: Client;
  let receiver: Receiver;
  let admin: Session;
  let account: string;
  const secrets = new Map<string, string>();

  beforeAll(async () => {
    [client, receiver] = await Promise.all([createClient(), startReceiver('delivery')]);
    account = newAccount();
    admin = await openSession(client, { account });
    for (const { published } of samples) {
      const url = receiver.url(`/${published.event}`);
      secrets.set(published.event, await register(admin, { evento: published.event, url }));
    }
  });

  afterAll(() => receiver.stop());

  describe.each(samples)('$published.event', ({ published, body }) => {
    let delivery: Received;
    let messageId: string;

    beforeAll(async () => {
      messageId = await publish(account, published);
      const [first] = await receiver.waitFor(`/${published.event}`, 1);
      if (first) delivery = first;
    });

    it('arrives byte for byte, by POST, as JSON', () => {
      expect(delivery).toMatchObject({ method: 'POST', body });
      expect(delivery.headers['content-type']).toBe('application/json');
      expect(delivery.headers['content-length']).toBe(String(Buffer.byteLength(body)));
    });

    it('is signed so that the Standard Webhooks library verifies it', () => {
      const webhook = new Webhook(secrets.get(published.event) ?? '');
      expect(webhook.verify(delivery.body, headersOf(delivery))).toEqual(JSON.parse(body));
      expect(() => webhook.verify(`${delivery.body} `, headersOf(delivery))).toThrow();
      const timestamp = Number(delivery.headers['webhook-timestamp']) * 1_000;
      expect(Math.abs(delivery.at - timestamp)).toBeLessThan(10_000);
    });

    it('carries the id that follows from the message', () => {
      expect(delivery.headers['webhook-id']).toBe(deliveryId(account, published.event, messageId));
    });

    it('says who sends it, and carries no Authorization that was not registered', () => {
      expect(delivery.headers['user-agent']).toMatch(/^Emissor\/\S+$/);
      expect(delivery.headers).not.toHaveProperty('authorization');
    });
  });

  it('carries the registered autorizacao as it is', async () => {
    const session = await openSession(client);
    const autorizacao = `Chave: "${unique()}" ~ \\ x`;
    await register(session, { evento: 'demanda.criada', url: receiver.url('/authorized'), autorizacao });
    await publish(session.user.account, { event: 'demanda.criada', id_demanda: 1 });
    const [delivery] = await receiver.waitFor('/authorized', 1);
    expect(delivery?.headers.authorization).toBe(autorizacao);
  });

  it('goes where the webhook points now, with the credential it has now', async () => {
    const session = await openSession(client);
    const { token } = session;
    await register(session, {
      evento: 'demanda.criada',
      url: receiver.url('/before'),
      autorizacao: `Bearer ${unique()}`,
    });
    const body = { url: receiver.url('/after') };
    expect((await callApi('PUT', '/v1/webhooks/demanda.criada', { token, body })).status).toBe(200);
    await publish(session.user.account, { event: 'demanda.criada', id_demanda: 2 });
    const [delivery] = await receiver.waitFor('/after', 1);
    expect(delivery?.headers).not.toHaveProperty('authorization');
    expect(receiver.received('/before')).toEqual([]);
  });

  it('that was delivered is not delivered again when it is published again with the same id', async () => {
    const session = await openSession(client);
    const { account } = session.user;
    await register(session, { evento: 'demanda.criada', url: receiver.url('/once') });
    const first = { event: 'demanda.criada', id_demanda: 3, id: `pedido-${unique()}-ção` };
    const last = { event: 'demanda.criada', id_demanda: 4, id: unique() };
    await publish(account, first);
    await settled(deliveryId(account, first.event, first.id));
    await publish(account, first);
    await publish(account, last);
    await settled(deliveryId(account, last.event, last.id));
    const ids = receiver.received('/once').map(delivery => delivery.headers['webhook-id']);
    expect(ids).toEqual([first, last].map(({ event, id }) => deliveryId(account, event, id)));
  });

  it('ignores fields beyond its own, and a link from the publisher', async () => {
    const session = await openSession(client);
    await register(session, { evento: 'demanda.criada', url: receiver.url('/extra') });
    const extra = plant(`extra-${unique()}`);
    const message = { id_conta: session.user.account, event: 'demanda.criada', id_demanda: 5, id_proposta: 6 };
    await send(JSON.stringify({ ...message, link: 'https://evil.example.com', extra }), session.user.account);
    const [delivery] = await receiver.waitFor('/extra', 1);
    expect(delivery?.body).toBe('{"event":"demanda.criada","id_demanda":5}');
  });

  it('of one account is not delivered to another', async () => {
    const [owner, neighbour] = await Promise.all([openSession(client), openSession(client)]);
    await register(owner, { evento: 'demanda.criada', url: receiver.url('/owner') });
    await register(neighbour, { evento: 'demanda.criada', url: receiver.url('/neighbour') });
    await publish(owner.user.account, { event: 'demanda.criada', id_demanda: 6 });
    await receiver.waitFor('/owner', 1);
    await publish(neighbour.user.account, { event: 'demanda.criada', id_demanda: 7 });
    const [delivery] = await receiver.waitFor('/neighbour', 1);
    expect(delivery?.body).toContain('"id_demanda":7');
    expect(receiver.received('/owner').length).toBe(1);
  });
});
