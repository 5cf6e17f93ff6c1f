import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type MeteredSocket, openMeteredSocket } from '../../../../lambdas/platform/egress/metered-socket.ts';
import { makeReceiverCosts } from '../../../../lambdas/platform/egress/receiver-costs.ts';
import { listen } from '../../../../tools/support/listen.ts';

/** A metered connection, and its other end. */
const open = async (): Promise<MeteredSocket & { readonly peer: Socket }> => {
  const server = createServer();
  onTestFinished(() => void server.close());
  const port = await listen(server);
  const cost = makeReceiverCosts(() => 0).open('receiver.example.com', 'acme');
  const metered = openMeteredSocket(connect, { host: '127.0.0.1', port }, cost);
  const [peer] = (await once(server, 'connection')) as [Socket];
  peer.on('error', () => undefined);
  onTestFinished(() => {
    metered.stream.destroy();
    peer.destroy();
  });
  return { ...metered, peer };
};

const record = (length: number): Buffer =>
  Buffer.concat([Buffer.of(23, 3, 3, length >> 8, length & 0xff), Buffer.alloc(length)]);

const emptyRecords = (count: number): Buffer => Buffer.concat(Array.from({ length: count }, () => record(0)));

/** A record of this many bytes, its header included. */
const bytes = (length: number): Buffer => record(length - 5);

const kilobyte = 1_024;

/** Reads until the stream ends or fails. */
const readAll = (metered: MeteredSocket) =>
  buffer(metered.stream).then(
    ({ length }) => ({ length }),
    (error: NodeJS.ErrnoException) => ({ code: error.code }),
  );

describe('a metered socket', () => {
  it('hands on all that comes, in portions of at most 4 KiB and of few records, other events in between', async () => {
    const { stream, peer, enter } = await open();
    enter('body');
    const sent = Buffer.concat([emptyRecords(64), bytes(60 * kilobyte), emptyRecords(63)]);
    const portions: { readonly length: number; readonly turn: number }[] = [];
    let turn = 0;
    const count = () => {
      turn += 1;
      if (!stream.destroyed) setImmediate(count);
    };
    setImmediate(count);
    stream.on('data', ({ length }: Buffer) => portions.push({ length, turn }));
    peer.end(sent);
    await once(stream, 'end');
    expect(portions.reduce((sum, { length }) => sum + length, 0)).toBe(sent.length);
    expect(Math.max(...portions.map(({ length }) => length))).toBeLessThanOrEqual(4_096);
    expect(portions.slice(0, 4).every(({ length }) => length <= 16 * 5)).toBe(true);
    expect(new Set(portions.map(portion => portion.turn)).size).toBeGreaterThanOrEqual(portions.length / 3);
  });

  it.each<[string, Buffer, string | undefined]>([
    ['32 KiB', bytes(32 * kilobyte), undefined],
    ['a byte more', Buffer.concat([bytes(32 * kilobyte), record(0).subarray(0, 1)]), 'TOO_MANY_BYTES'],
    ['64 records', emptyRecords(64), undefined],
    ['65 records', emptyRecords(65), 'TOO_MANY_RECORDS'],
  ])('begins with a handshake, which takes %s: %#', async (_case, sent, code) => {
    const metered = await open();
    metered.peer.end(sent);
    expect(await readAll(metered)).toEqual(code ? { code } : { length: sent.length });
  });

  it.each<[Parameters<MeteredSocket['enter']>[0], Buffer, string | undefined]>([
    ['headers', bytes(32 * kilobyte), undefined],
    ['headers', Buffer.concat([bytes(32 * kilobyte - 5), bytes(6)]), 'TOO_MANY_BYTES'],
    ['headers', emptyRecords(256), undefined],
    ['headers', emptyRecords(257), 'TOO_MANY_RECORDS'],
    ['body', bytes(60 * kilobyte), undefined],
    ['body', emptyRecords(128), undefined],
    ['body', emptyRecords(129), 'TOO_MANY_RECORDS'],
    ['idle', bytes(32 * kilobyte), undefined],
    ['idle', Buffer.concat([bytes(32 * kilobyte - 5), bytes(6)]), 'TOO_MANY_BYTES'],
    ['idle', emptyRecords(16), undefined],
    ['idle', emptyRecords(17), 'TOO_MANY_RECORDS'],
  ])('counts anew for the %s, by limits of its own: %#', async (phase, sent, code) => {
    const metered = await open();
    metered.peer.write(emptyRecords(60));
    for (let come = 0; come < 60 * 5; ) come += ((await once(metered.stream, 'data'))[0] as Buffer).length;
    metered.enter(phase);
    metered.peer.end(sent);
    expect(await readAll(metered)).toEqual(code ? { code } : { length: sent.length });
  });

  it('hands on nothing of a portion that is too much', async () => {
    const metered = await open();
    let come = 0;
    metered.stream.on('data', ({ length }: Buffer) => {
      come += length;
    });
    metered.enter('idle');
    metered.peer.resume().write(emptyRecords(100));
    await expect(once(metered.stream, 'end')).rejects.toMatchObject({ code: 'TOO_MANY_RECORDS' });
    expect(come).toBe(16 * 5);
  });

  it('takes sixteen session tickets in each phase', async () => {
    const { stream, enter, countTicket } = await open();
    for (const phase of ['headers', 'body', 'idle'] as const) {
      for (let ticket = 0; ticket < 16; ticket++) countTicket();
      enter(phase);
    }
    expect(stream.destroyed).toBe(false);
    for (let ticket = 0; ticket < 17; ticket++) countTicket();
    await expect(once(stream, 'close')).rejects.toMatchObject({ code: 'TOO_MANY_TICKETS' });
  });

  it('reads no more than it may hand on', async () => {
    const { stream, socket, peer, enter } = await open();
    enter('body');
    for (let sent = 0; sent < 4; sent++) peer.write(bytes(60 * kilobyte));
    await once(stream, 'readable');
    await new Promise(resolve => setTimeout(resolve, 50));
    expect(socket.bytesRead).toBeLessThanOrEqual(3 * 4_096);
    let read = 0;
    stream.on('data', ({ length }: Buffer) => {
      read += length;
    });
    await expect.poll(() => read).toBe(4 * 60 * kilobyte);
  });

  it('reads what comes byte by byte more and more at once', async () => {
    const { stream, peer } = await open();
    const portions: number[] = [];
    stream.on('data', ({ length }: Buffer) => portions.push(length));
    const sent = bytes(2_000);
    for (const byte of sent) {
      peer.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    await expect.poll(() => portions.reduce((sum, length) => sum + length, 0)).toBe(sent.length);
    expect(portions.length).toBeLessThan(100);
  });

  it('waits for a peer that does not read', async () => {
    const { stream, peer } = await open();
    peer.pause();
    const chunk = Buffer.alloc(256 * kilobyte);
    let sent = 0;
    let drained = false;
    stream.once('drain', () => {
      drained = true;
    });
    do sent += chunk.length;
    while (stream.write(chunk) || sent < 16 * 1_024 * kilobyte);
    await new Promise(resolve => setTimeout(resolve, 50));
    expect(drained).toBe(false);
    const received = buffer(peer);
    stream.end();
    expect((await received).length).toBe(sent);
  });

  it('ends when its peer ends, and tells its peer that it ended', async () => {
    const { stream, peer } = await open();
    const ended = once(peer, 'end');
    peer.resume().end(record(3));
    expect((await buffer(stream)).length).toBe(8);
    await ended;
    await expect.poll(() => stream.closed).toBe(true);
  });

  it('fails as its connection does', async () => {
    const { stream, peer } = await open();
    stream.resume();
    peer.resetAndDestroy();
    await expect(once(stream, 'end')).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('closes its connection when it is destroyed, in the middle of a portion too', async () => {
    const { stream, peer } = await open();
    const closed = once(peer, 'close');
    stream.on('data', () => stream.destroy());
    peer.resume().write(emptyRecords(200));
    await closed;
  });
});
