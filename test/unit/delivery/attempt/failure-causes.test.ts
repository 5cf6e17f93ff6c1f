import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { failureCauses } from '../../../../lambdas/delivery/failure-causes.ts';
import { toAttemptRecord, wireResults } from '../../../../lambdas/delivery/representation.ts';
import { makeResolver } from '../../../../lambdas/platform/egress/resolver.ts';
import { makeSignedChain, signingRsaKey } from '../../../../tools/support/certificate-chain.ts';
import { startHugeChain } from '../../../../tools/support/floods.ts';
import { listen } from '../../../../tools/support/listen.ts';
import { ok, postVia, publicAddress } from '../../platform/egress/posting.ts';
import { certify, loopbackNetwork, type Names } from '../../platform/egress/tls-receiver.ts';
import { aDelivery, attemptWith, aWebhook } from '../builders.ts';

// Every attempt goes through the real egress to a real receiver. The result is the API representation of the attempt.

const host = 'receiver.example.com';

const chain = makeSignedChain(host, 3, signingRsaKey(2_048));

/** The failures. Each function starts a receiver and returns its port and network. */
const failures: Readonly<Record<string, () => Promise<Situation>>> = {
  'conexao recusada: no server listens': async () => {
    const server = createServer();
    const port = await listen(server);
    server.close();
    await once(server, 'close');
    return { port };
  },
  'conexao reiniciada: it drops the connection': () => respondWith(socket => socket.destroy()),
  'conexao reiniciada: it closes within the headers': () =>
    respondWith(socket => socket.end('HTTP/1.1 200 OK\r\nX-Cut')),
  'conexao reiniciada: it resets during the handshake': () => overTcp(socket => socket.resetAndDestroy()),
  'conexao resposta_invalida: not HTTP': () => saying('SSH-2.0-OpenSSH_9.6\r\n'),
  'conexao resposta_invalida: Content-Length and Transfer-Encoding': () =>
    saying('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'),
  'conexao resposta_invalida: a space in a header name': () =>
    saying('HTTP/1.1 200 OK\r\nX Name: 1\r\nContent-Length: 0\r\n\r\n'),
  'conexao resposta_invalida: a protocol switch': () =>
    saying('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  'conexao cabecalhos_grandes: 20 KiB of headers': () =>
    saying(`HTTP/1.1 200 OK\r\nX-Large: ${'x'.repeat(20 * 1_024)}\r\n\r\n`),
  'conexao bytes_demais: an endless series of line breaks': () => saying('\r\n'.repeat(30 * 1_024)),
  'conexao bytes_demais: an endless series of informational responses': () =>
    saying('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2_000)),
  'tls certificado_vencido: expired yesterday': () => presenting({}, -24 * 3_600_000),
  'tls certificado_outro_nome: for another name': () => presenting({ dns: ['other.example.com'] }),
  'tls cadeia_incompleta: without the intermediate': () => presentingChain(1),
  'tls cadeia_incompleta: from an unknown authority': () => untrusted(presentingChain(2)),
  'tls autoassinado: self-signed': () => untrusted(presenting({})),
  'tls autoassinado: with the root of a private authority': () => untrusted(presentingChain(3)),
  'tls versao_tls: TLS 1.1 only': () =>
    respondWith(() => {}, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
  'tls versao_tls: a response with TLS 1.1': () => overTcp(socket => socket.once('data', () => socket.write(oldHello))),
  'tls bytes_demais: a chain of 95 KiB': async () => {
    const { port, stop } = await startHugeChain(host);
    onTestFinished(stop);
    return { port };
  },
  'tls null: not TLS': () => overTcp(socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
  'tls null: DHE only': () =>
    respondWith(() => {}, { ciphers: 'DHE-RSA-AES128-GCM-SHA256', dhparam: 'auto', maxVersion: 'TLSv1.2' }, true),
  'dns nome_inexistente: the name does not exist': () => resolvedBy({ code: 3 }),
  'dns sem_resposta: an unresponsive name server': () => resolvedBy('silent'),
  'dns sem_resposta: a name server that fails': () => resolvedBy({ code: 2 }),
  'dns sem_ipv4: only an AAAA record': () => resolvedBy({ ipv6: true }),
  'dns sem_ipv4: no address': () => resolvedBy({}),
  'tempo_esgotado ao_conectar: no connection in time': async () => ({
    port: 0,
    isSilent: true,
    connectTimeoutMs: 50,
  }),
  'tempo_esgotado ao_conectar: the deadline expires': async () => ({ port: 0, isSilent: true, deadlineMs: 50 }),
  'tempo_esgotado sem_cabecalhos: silent after the connection': () => withShortDeadline(overTcp(() => {})),
  'tempo_esgotado sem_cabecalhos: silent after the request': () => withShortDeadline(respondWith(() => {})),
  'tempo_esgotado sem_cabecalhos: stops within the headers': () =>
    withShortDeadline(saying('HTTP/1.1 200 OK\r\nX-Slow: ')),
};

describe('an attempt ends with', () => {
  it.each(Object.entries(failures))('%s', async (name, fail) => {
    const { resultado, detalhe } = await attemptAt(await fail());
    expect(`${resultado} ${detalhe}`).toBe(name.split(':')[0]);
  });

  it('only those causes that these failures cover', () => {
    const provoked = Object.keys(failures).map(name => name.split(':')[0]);
    const rows = Object.values(failureCauses).flatMap(({ results, word }) =>
      results.map(result => `${wireResults[result]} ${word}`),
    );
    expect(rows.filter(row => !provoked.includes(row))).toEqual([]);
  });
});

interface Situation {
  /** The port to which all connections go. */
  readonly port: number;
  /** The only trusted authority. @default - the public authorities */
  readonly ca?: string | undefined;
  readonly resolve?: ReturnType<typeof makeResolver>;
  /** True if the receiver never accepts a connection. */
  readonly isSilent?: boolean;
  readonly deadlineMs?: number;
  readonly connectTimeoutMs?: number;
}

async function attemptAt({ port, ca, resolve, isSilent = false, deadlineMs = 20_000, ...others }: Situation) {
  const { network } = loopbackNetwork(port, ca, new Map(isSilent ? [[publicAddress, 'silent']] : []));
  const { post } = postVia(network, resolve && { resolve });
  const attempt = attemptWith({ post, attemptTimeoutMs: deadlineMs, connectTimeoutMs: 20_000, ...others });
  return toAttemptRecord((await attempt(aWebhook({ url: `https://${host}/` }), aDelivery())).record);
}

async function withShortDeadline(situation: Promise<Situation>): Promise<Situation> {
  return { ...(await situation), deadlineMs: 300 };
}

async function untrusted(situation: Promise<Situation>): Promise<Situation> {
  return { ...(await situation), ca: undefined };
}

function saying(text: string): Promise<Situation> {
  return respondWith(socket => socket.write(text));
}

async function respondWith(act: (socket: Socket) => void, options: TlsOptions = {}, isRsa = false): Promise<Situation> {
  const pair = await certify(undefined, isRsa);
  return overTls({ key: pair.private, cert: pair.cert, ...options }, pair.cert, act);
}

/** Starts a receiver with a trusted certificate for these names, which expires after this many milliseconds. */
async function presenting(names: Names, endsIn?: number): Promise<Situation> {
  const pair = await certify({ dns: [host], ...names }, false, endsIn);
  return overTls({ key: pair.private, cert: pair.cert }, pair.cert);
}

/** Starts a receiver that presents the first certificates of a three-certificate chain. The last one is the root, which is trusted. */
async function presentingChain(length: number): Promise<Situation> {
  const { key, certificate, root } = chain;
  const certificates = certificate.split(/(?=-----BEGIN)/);
  return overTls({ key, cert: certificates.slice(0, length).join('') }, root);
}

async function overTls(options: TlsOptions, ca: string, act: (socket: Socket) => void = socket => socket.write(ok)) {
  const server = createTlsServer(options, socket => {
    socket.on('error', () => {});
    socket.once('data', () => act(socket));
  });
  server.on('tlsClientError', () => {});
  onTestFinished(() => void server.close());
  return { port: await listen(server), ca };
}

async function overTcp(act: (socket: Socket) => void): Promise<Situation> {
  const server = createServer(socket => {
    socket.on('error', () => {});
    act(socket);
  });
  onTestFinished(() => void server.close());
  return { port: await listen(server) };
}

/** The ServerHello of a TLS 1.1 server (RFC 4346 section 7.4.1.3). */
const oldHello = Buffer.from([22, 3, 2, 0, 42, 2, 0, 0, 38, 3, 2, ...Array(32).fill(1), 0, 0xc0, 0x13, 0]);

/** Starts a name server that returns a code (RFC 1035 section 4.1.1) or an IPv6 address, or does not respond. */
async function resolvedBy(
  dnsResponse: { readonly code?: number; readonly ipv6?: boolean } | 'silent',
): Promise<Situation> {
  const server = createSocket('udp4', (question, { port, address }) => {
    if (dnsResponse === 'silent') return;
    const { code = 0, ipv6 = false } = dnsResponse;
    const end = question.indexOf(0, 12) + 5;
    const hasRecord = ipv6 && question[end - 3] === 28;
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(0x8180 | code, 2);
    header.writeUInt16BE(hasRecord ? 1 : 0, 6);
    header.writeUInt16BE(0, 10);
    const record = hasRecord ? [0xc0, 12, 0, 28, 0, 1, 0, 0, 0, 60, 0, 16, 0x26, 6, 0x47, ...Array(13).fill(0)] : [];
    server.send(Buffer.concat([header, question.subarray(12, end), Buffer.from(record)]), port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const newNameServer = () => {
    const timeout = dnsResponse === 'silent' ? 50 : 10_000; // on a busy computer, the response may take a long time
    const resolver = new Resolver({ timeout, maxTimeout: timeout, tries: 1 });
    resolver.setServers([`127.0.0.1:${server.address().port}`]);
    return resolver;
  };
  return { port: 0, resolve: makeResolver(newNameServer) };
}
