import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { makeRedaction } from '../../../../lambdas/delivery/attempt/redaction.ts';
import { bodyText, type Redact } from '../../../../lambdas/platform/egress/body-text.ts';
import { runLoopUntil, useVirtualTime } from '../../../support/virtual-time.ts';
import { outcomeOf, request, say, start } from './posting.ts';
import type { Play } from './tls-receiver.ts';

const httpResponse = (body: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

describe('a response', () => {
  it.each([200, 302, 410, 503])('has status %i and its headers, and a redirect is not followed', async status => {
    const head = 'Location: https://receiver.example.com/other\r\nRetry-After: 7\r\nContent-Length: 0';
    const { receiver, post } = await start(say(`HTTP/1.1 ${status} X\r\n${head}\r\n\r\n`));
    expect(await post(request)).toMatchObject({ outcome: 'response', status, headers: { 'retry-after': '7' } });
    expect(receiver.requests).toHaveLength(1);
  });

  it('contains the first KiB of text, truncated between characters', async () => {
    const body = `a${'ã'.repeat(1_000)}`;
    expect(await outcomeOf(say(httpResponse(body)))).toMatchObject({ bodyStart: `a${'ã'.repeat(511)}` });
  });

  const encoded = (headers: string, body: Uint8Array): Play => {
    const head = `HTTP/1.1 500 X\r\n${headers}\r\nContent-Length: ${body.length}\r\n\r\n`;
    return socket => socket.write(Buffer.concat([Buffer.from(head, 'latin1'), body]));
  };
  const latin1 = Buffer.from('não', 'latin1');
  const utf8 = Buffer.from('não');
  const utf16 = Buffer.from('não', 'utf16le');
  const bigEndian = Buffer.from(utf16).swap16();

  it.each([
    ['text/plain', utf8],
    ['text/plain; charset=ISO-8859-1', latin1],
    ['text/plain;charset="iso-8859-1"', latin1],
    ['text/plain; boundary=x ; Charset = windows-1252', latin1],
    ['text/plain; charset=utf-16le', utf16],
    ['text/plain; charset=utf-16be', bigEndian],
    ['text/plain; charset=utf-16', Buffer.concat([Buffer.of(0xff, 0xfe), utf16])],
    ...['UTF-16', 'utf-16le', 'ucs-2', 'unicode', 'iso-10646-ucs-2'].map((charset): [string, Buffer] => [
      `text/plain; charset=${charset}`,
      Buffer.concat([Buffer.of(0xfe, 0xff), bigEndian]),
    ]),
    ['text/plain; charset=utf-8', Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), utf8])],
    ['text/plain; charset=klingon', utf8],
    ['text/plain; charset=', utf8],
    ['text/plain; charset="', utf8],
    [';;charset;=;charset==utf-16;\xff', utf8],
  ])('is decoded according to its content type %j', async (type, body) => {
    expect(await outcomeOf(encoded(`Content-Type: ${type}`, body))).toMatchObject({ bodyStart: 'não' });
  });

  it.each([
    ['gzip', 'x'.repeat(512), '[gzip, 512 bytes]'],
    ['br', 'x'.repeat(1_024), '[br, 1024 bytes]'],
    ['br', 'x'.repeat(1_025), '[br, over 1024 bytes]'],
    ['gzip', 'x'.repeat(5_000), '[gzip, over 1024 bytes]'],
    ['GZIP', 'x', '[GZIP, 1 bytes]'],
    ['deflate, gzip', 'x', '[deflate, gzip, 1 bytes]'],
    ['identity', 'plain', 'plain'],
    ['Identity', 'plain', 'plain'],
    ['', 'plain', 'plain'],
    [',', 'plain', 'plain'],
    ['gzip; q=1', 'plain', 'plain'],
    ['x'.repeat(65), 'plain', 'plain'],
    ['gzip', '', ''],
  ])('with the encoding %j is shown as its encoding and size or as text', async (encoding, body, expected) => {
    expect(await outcomeOf(encoded(`Content-Encoding: ${encoding}`, Buffer.from(body)))).toMatchObject({
      bodyStart: expected,
    });
  });

  const canary = 'Bearer canary-s3cret';
  it.each([
    ['in UTF-16', 'Content-Type: text/plain; charset=utf-16le', Buffer.from(`said ${canary}`, 'utf16le'), 'said ***'],
    ['in Latin-1', 'Content-Type: text/plain; charset=latin1', Buffer.from(`não: ${canary}`, 'latin1'), 'não: ***'],
    ['in Shift JIS', 'Content-Type: text/plain; charset=shift_jis', Buffer.from(`{"a":"${canary}"}`), '{"a":"***"}'],
    ['in gzip', 'Content-Encoding: gzip', gzipSync(canary), `[gzip, ${gzipSync(canary).length} bytes]`],
    ['as a content encoding', 'Content-Encoding: canary-s3cret', Buffer.from('x'), '[***, 1 bytes]'],
  ])('does not show a credential that it repeats %s', async (_case, headers, body, expected) => {
    expect(await outcomeOf(encoded(headers, body), { redact: makeRedaction(canary) })).toMatchObject({
      bodyStart: expected,
    });
  });

  it.each([
    ...['utf-8', 'klingon', 'utf-16', 'utf-16le', 'utf-16be', 'x-user-defined', 'macintosh', 'windows-1252', 'koi8-r'],
    ...['iso-8859-1', 'iso-8859-15', 'windows-1251', 'utf-32', 'shift_jis', 'euc-jp', 'iso-2022-jp', 'gbk', 'gb18030'],
    ...['big5', 'euc-kr', 'hz-gb-2312', 'iso-2022-kr', 'ibm866'],
  ])('does not show an ASCII credential in a body that is declared as %s', charset => {
    const type = { 'content-type': `text/plain; charset=${charset}` };
    const secret = 'canary-s3cret-01';
    const show = (body: string, redact: Redact) => bodyText(Buffer.from(body, 'latin1'), false, type, redact);
    for (const before of ['', 'x', '\x81', '\xe1', '\x1b$B']) {
      const shown = show(`${before}${secret}`, makeRedaction(`Bearer ${secret}`));
      const unredacted = show(`${before}${secret}`, text => text);
      expect(shown).not.toBe(unredacted);
      for (const encoding of ['latin1', 'utf16le', 'utf8'] as const)
        expect(Buffer.from(shown, encoding).toString('latin1')).not.toContain('s3cret');
      expect(Buffer.from(shown, 'utf16le').swap16().toString('latin1')).not.toContain('s3cret');
    }
  });

  it.each([
    [`Content-Type: text/plain${';'.repeat(15_000)}`],
    [`Content-Type: text/plain;${' '.repeat(15_000)}x`],
    [`Content-Type: text/plain; charset${' '.repeat(15_000)}x`],
    [`Content-Type: text/plain; charset="${'x'.repeat(15_000)}`],
    [`Content-Encoding: ${'a,'.repeat(7_500)}`],
    [`Content-Encoding: ${' ,'.repeat(7_500)}`],
  ])('is read with any headers: %.40s', async headers => {
    expect(await outcomeOf(encoded(headers, Buffer.from('plain')))).toMatchObject({ bodyStart: 'plain' });
  });

  const chunked = (...sizes: readonly number[]) => {
    const chunks = sizes.map(size => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`);
    return `HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`;
  };
  it.each([
    ['a short body', httpResponse('xx'), 2, false],
    ['a body of 1 KiB', httpResponse('x'.repeat(1_024)), 1_024, false],
    ['a longer body', httpResponse('x'.repeat(1_025)), 1_024, true],
    ['chunks that continue after 1 KiB', chunked(1_024, 500), 1_024, true],
    ['chunks that fill 1 KiB together', chunked(512, 512, 500), 1_024, true],
    ['a chunk across the end of 1 KiB', chunked(1_000, 500), 1_024, true],
  ])('is redacted up to 1 KiB, with its truncation: %s', async (_case, text, length, isTruncated) => {
    const redact = vi.fn(() => 'redacted');
    expect(await outcomeOf(say(text), { redact })).toMatchObject({ bodyStart: 'redacted' });
    expect(redact.mock.calls).toEqual([['x'.repeat(length), isTruncated]]);
  });

  const half = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome\xc3'; // ends in the middle of a character
  it.each<[string, Play]>([
    ['is closed early', socket => socket.end(half, 'latin1')],
    ['is reset', socket => socket.write(half, 'latin1', () => socket.destroy())],
    ['is malformed', say('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsome\r\nnonsense')],
  ])('is accepted if its headers are complete but its body %s', async (_case, play) => {
    expect(await outcomeOf(play)).toMatchObject({ outcome: 'response', status: 200, bodyStart: 'some' });
  });

  it('is read up to 1 KiB, and then the connection is closed, because a body may be endless', async () => {
    const endless: Play = socket => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const pour = () => {
        while (!socket.destroyed && socket.write('y'.repeat(8_192)));
      };
      socket.on('drain', pour);
      pour();
    };
    const { receiver, post } = await start(endless);
    const outcome = await post(request);
    expect(outcome).toMatchObject({ outcome: 'response', bodyStart: 'y'.repeat(1_024) });
    await post(request);
    expect(receiver.connections()).toBe(2);
  });

  it.each<[string, Play]>([
    ['with its headers', say(httpResponse('x'.repeat(3_000)))],
    [
      'after its headers',
      socket => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n');
        setTimeout(() => socket.write('x'.repeat(3_000)), 50);
      },
    ],
  ])('leaves the connection open if the whole body arrived at once %s', async (_case, play) => {
    const { receiver, post } = await start(play);
    for (let time = 0; time < 3; time++) await post(request);
    expect(receiver.connections()).toBe(1);
  });

  it('is read for only 1 s, even before the deadline', async () => {
    useVirtualTime();
    const trickle: Play = socket => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nyyyyy');
      const timer = setInterval(() => socket.write('y'), 300);
      socket.on('close', () => clearInterval(timer));
    };
    const { receiver, post } = await start(trickle);
    const responded = Promise.withResolvers<void>();
    let hasEnded = false;
    const reading = post({ ...request, deadlineMs: 15_000, onResponse: responded.resolve }).finally(() => {
      hasEnded = true;
    });
    await responded.promise;
    for (const milliseconds of [300, 300, 300, 99]) {
      vi.advanceTimersByTime(milliseconds);
      let turns = 0;
      await runLoopUntil(() => ++turns === 300); // the received bytes are read
    }
    expect(hasEnded).toBe(false);
    vi.advanceTimersByTime(1);
    const bodyStart = expect.stringMatching(/^y{5,8}$/);
    expect(await reading).toMatchObject({ outcome: 'response', bodyStart, durationMs: 0 }); // the duration ends with the headers
    void post(request);
    await runLoopUntil(() => receiver.connections() === 2);
  });

  it('is read beyond the deadline, which applies only to the headers', async () => {
    const late: Play = socket => {
      socket.write('HTTP/1.1 500 X\r\nContent-Length: 4\r\n\r\n');
      setTimeout(() => socket.write('late'), 400);
    };
    expect(await outcomeOf(late, { deadlineMs: 200 })).toMatchObject({ outcome: 'response', bodyStart: 'late' });
  });
});
