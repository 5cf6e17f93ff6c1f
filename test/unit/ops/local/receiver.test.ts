import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { afterAll, expect, it } from 'vitest';
import { makeReceiver, type ReceivedDelivery } from '../../../../ops/local/receiver.ts';
import { closeNow, listen } from '../../../../tools/support/listen.ts';

const received: ReceivedDelivery[] = [];
const server = createServer(makeReceiver(delivery => received.push(delivery)));
const url = `http://127.0.0.1:${await listen(server)}`;
afterAll(() => closeNow(server));

const deliver = async (path: string, body = '') => {
  const headers = { host: 'receiver.example.com', 'x-a': 'b', 'webhook-id': 'evt_1' };
  const sent = request(`${url}${path}`, { method: 'POST', headers }).end(body);
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, body: Buffer.concat(await response.toArray()).toString() };
};

const readDeliveries = async () => (await fetch(`${url}/deliveries`)).json() as Promise<Record<string, unknown>[]>;

it('lists its requests as JSON at its local address until they are deleted', async () => {
  expect(await deliver('/hook', '{"a":"<b>"}')).toEqual({ status: 200, body: '' });
  expect(await deliver('/deliveries')).toEqual({ status: 200, body: '' });
  expect(received.map(({ path }) => path)).toEqual(['/hook', '/deliveries']);
  expect((await readDeliveries())[0]).toEqual({
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    method: 'POST',
    path: '/hook',
    headers: expect.objectContaining({ 'x-a': 'b', host: 'receiver.example.com' }),
    body: '{"a":"<b>"}',
    status: 200,
  });
  expect((await fetch(`${url}/deliveries`, { method: 'DELETE' })).status).toBe(204);
  expect(await readDeliveries()).toEqual([]);
});

it('returns the status in the path', async () => {
  expect(await deliver('/status/503')).toMatchObject({ status: 503 });
  expect(await deliver('/status/199')).toMatchObject({ status: 200 });
});
