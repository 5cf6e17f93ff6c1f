import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import { type Client, unique } from '../../tools/support/accounts.ts';
import { type Received, type Receiver, startReceiver } from '../support/e2e-receiver.ts';
import {
  callApi,
  createClient,
  deliveryId,
  newAccount,
  openSession,
  type PublishedEvent,
  publish,
  register,
  type Session,
  untilSettled,
} from '../support/e2e-service.ts';
import { demandsUrl, describeWith, until } from '../support/e2e-target.ts';
import { blocksOf, readPage } from '../support/markdown-page.ts';

interface Sample {
  readonly published: PublishedEvent;
  readonly body: string;
}

const page = readPage('docs/en/events.md');

/** A sample of every event with the exact body for the receiver: the documented body, or a body with the maximum id. */
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

describeWith(['names'], 'a delivery', () => {
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

  it.each(samples)(
    'of $published.event has the documented body, a valid signature and the id of its event',
    async ({ published, body }) => {
      const id = await publish(account, published);
      const hasId = ({ headers }: Received) => headers['webhook-id'] === id;
      const delivery = await until(id, () => receiver.received(`/${published.event}`).find(hasId));
      expect(delivery).toMatchObject({ method: 'POST', body });
      expect(delivery.headers).toMatchObject({
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        'user-agent': expect.stringMatching(/^Emissor\/\S+$/),
        accept: '*/*',
      });
      expect(delivery.headers).not.toHaveProperty('authorization');
      const webhook = new Webhook(secrets.get(published.event) ?? '');
      expect(webhook.verify(delivery.body, headersOf(delivery))).toEqual(JSON.parse(body));
      expect(() => webhook.verify(`${delivery.body} `, headersOf(delivery))).toThrow();
      const timestamp = Number(delivery.headers['webhook-timestamp']) * 1_000;
      expect(Math.abs(delivery.at - timestamp)).toBeLessThan(10_000);
    },
  );

  it('contains the registered autorizacao, and goes to the current URL of its webhook', async () => {
    const session = await openSession(client);
    const { account } = session.user;
    const autorizacao = `Chave: "${unique()}" ~ \\ x`;
    const [before, after] = [`/${unique()}`, `/${unique()}`];
    await register(session, { evento: 'demanda.criada', url: receiver.url(before), autorizacao });
    await publish(account, { event: 'demanda.criada', id_demanda: 1 });
    const [first] = await receiver.waitFor(before, 1);
    expect(first?.headers.authorization).toBe(autorizacao);
    const body = { url: receiver.url(after) };
    expect((await callApi('PUT', '/v1/webhooks/demanda.criada', { token: session.token, body })).status).toBe(200);
    await publish(account, { event: 'demanda.criada', id_demanda: 2 });
    const [second] = await receiver.waitFor(after, 1);
    expect(second?.headers).not.toHaveProperty('authorization');
    expect(receiver.received(before)).toHaveLength(1);
  });

  it('arrives once if its event is published twice with the same id', async () => {
    const session = await openSession(client);
    const { account } = session.user;
    const path = `/${unique()}`;
    await register(session, { evento: 'demanda.criada', url: receiver.url(path) });
    const first = { event: 'demanda.criada', id_demanda: 3, id: `pedido-${unique()}-ção` };
    const last = { event: 'demanda.criada', id_demanda: 4, id: unique() };
    await untilSettled(await publish(account, first));
    await publish(account, first);
    await untilSettled(await publish(account, last));
    const ids = receiver.received(path).map(delivery => delivery.headers['webhook-id']);
    expect(ids).toEqual([first, last].map(({ event, id }) => deliveryId(account, event, id)));
  });
});
