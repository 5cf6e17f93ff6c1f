import { describe, expect, it } from 'vitest';
import { byteBudget } from '../../../../lambdas/platform/egress/byte-budget.ts';
import { type Flood, floods, playFlood, sendFlood } from '../../../../tools/support/floods.ts';
import type { HostileConnection } from '../../../../tools/support/hostile-tls.ts';
import type { RecordWriter } from '../../../../tools/support/tls-records.ts';
import { ok, request, startHostile } from './posting.ts';

/** More bytes than a connection may receive with one response, and a fraction of the bytes that a flood sends in a second. */
const maxBytes = byteBudget + 8 * 1_024;

const tlsErrors: Readonly<Record<string, unknown>> = {
  'empty records': 'ERR_SSL_RECORD_TOO_SMALL',
  warnings: 'ERR_SSL_TOO_MANY_WARN_ALERTS',
};

// By ADR 20, a connection has a byte budget below TLS, which limits the cost of each receiver.
describe('the connection to a receiver that floods is closed', () => {
  it.each(floods.map(flood => [flood.name, flood] as const))('%s', async (name, flood) => {
    const expected =
      flood.first !== undefined
        ? { outcome: 'response', bodyStart: flood.whenIdle ? '' : 'some' }
        : name in tlsErrors
          ? { outcome: 'tls', errorCode: tlsErrors[name] }
          : { outcome: 'connection', cause: 'too_many_bytes', errorCode: 'TOO_MANY_BYTES' };
    const { post, closed, sockets } = await startHostile(playFlood(flood), { version: flood.version });
    expect(await post({ ...request, deadlineMs: 20_000 })).toMatchObject(expected);
    await closed;
    expect(sockets[0]?.bytesRead).toBeLessThan(maxBytes);
  });

  it('and is read in portions of at most 4 KiB, so the process can handle other events between them', async () => {
    const { post, sockets } = await startHostile(({ records, write }) =>
      write(Buffer.concat(Array.from({ length: 2_500 }, () => records.keyUpdate(false)))),
    );
    const portions: number[] = [];
    let read = 0;
    const measure = () => {
      const { bytesRead = 0 } = sockets[0] ?? {};
      portions.push(bytesRead - read);
      read = bytesRead;
      turn = setImmediate(measure);
    };
    let turn = setImmediate(measure);
    expect(await post(request)).toMatchObject({ outcome: 'connection', errorCode: 'TOO_MANY_BYTES' });
    clearImmediate(turn);
    expect(Math.max(...portions)).toBe(4 * 1_024);
  });
});

const httpResponse = (records: RecordWriter): Buffer => records.record('data', Buffer.from(ok));

describe('a reusable connection', () => {
  /** Starts a receiver that responds. Returns it with its connections. */
  const startResponding = async () => {
    const connections: HostileConnection[] = [];
    const { post, sockets } = await startHostile(async connection => {
      connections.push(connection);
      await connection.write(httpResponse(connection.records));
    });
    return { connections, post, sockets };
  };

  it.each<[string, Flood['burst']]>([
    ...floods.filter(({ version }) => !version).map(({ name, burst }) => [name, burst] as [string, Flood['burst']]),
    ['a response without a request', httpResponse],
  ])('is closed and replaced if it is idle and receives a flood of %s', async (_case, burst) => {
    const { connections, post, sockets } = await startResponding();
    await post(request);
    await sendFlood(connections[0] as HostileConnection, burst);
    expect(sockets[0]?.bytesRead).toBeLessThan(maxBytes);
    expect(await post(request)).toMatchObject({ outcome: 'response', status: 200 });
    expect(connections.map(({ write }) => write === connections[0]?.write)).toEqual([true, false]);
  });

  it('may change its keys, because each attempt and each idle time has its own budget', async () => {
    const { connections, post } = await startResponding();
    for (let attempt = 0; attempt < 40; attempt++) {
      expect(await post(request)).toMatchObject({ outcome: 'response', status: 200 });
      const { records, write } = connections[0] as HostileConnection;
      await write(Buffer.concat(Array.from({ length: 100 }, () => records.keyUpdate(true))));
    }
    expect(new Set(connections.map(({ records }) => records)).size).toBe(1);
  });

  it('is replaced if it is reset after only KeyUpdates, because no part of a response has arrived', async () => {
    let requests = 0;
    const { post } = await startHostile(async ({ records, write, reset }) => {
      requests += 1;
      if (requests !== 2) return write(httpResponse(records));
      await write(records.keyUpdate(true));
      return reset();
    });
    await post(request);
    expect(await post(request)).toMatchObject({ outcome: 'response', status: 200 });
    expect(requests).toBe(3);
  });
});

describe('a handshake', () => {
  it.each([1, 100])('in records of %i bytes is accepted', async fragment => {
    const { post } = await startHostile(async ({ records, write }) => write(httpResponse(records)), {
      version: 'TLSv1.2',
      fragment,
    });
    expect(await post(request)).toMatchObject({ outcome: 'response', status: 200 });
  });
});
