import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Internet, startInternet } from '../../../src/local/internet/internet.ts';
import { writeRuntimeFiles } from '../../../src/local/lambda/runtime-context.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

/** Evaluates the code that it receives. It runs in its own process with the preload module. */
const probe = `
import { Resolver } from 'node:dns/promises';
import * as https from 'node:https';
import * as http from 'node:http';
import * as tls from 'node:tls';
const resolve4 = name => new Resolver({ timeout: 100 }).resolve4(name);
const resolve6 = name => new Resolver({ timeout: 100 }).resolve6(name);
/** Resolves the name, then connects to the address, as the functions do. */
const request = async (options, body) => {
  const [address] = await resolve4(options.host);
  const pinned = { servername: options.host, ...options, host: address, headers: { host: options.host, ...options.headers } };
  return new Promise((resolve, reject) => {
    const sent = https.request(pinned, response => {
      const chunks = [];
      const { authorized } = response.socket;
      response.on('data', chunk => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode, headers: response.rawHeaders, body: String(Buffer.concat(chunks)), authorized }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
};
const tools = { Resolver, resolve4, resolve6, https, http, tls, request };
process.on('message', async ({ id, code }) => {
  try {
    const run = new Function(...Object.keys(tools), 'return (async () => { ' + code + ' })()');
    process.send({ id, result: await run(...Object.values(tools)) ?? null });
  } catch (error) {
    process.send({ id, error: error.code ?? error.message });
  }
});
process.send({ id: 0, result: null });
`;

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 }); // processes start slowly on a busy computer

const directory = temporaryDirectory();
const hostsFile = join(directory, 'hosts.json');
const servers: (Server | TcpServer)[] = [];
let internet: Internet;
let child: ChildProcess;
let plainPort: number;
let tcpPort: number;
const notes: string[] = [];

const listen = async (server: Server | TcpServer): Promise<number> => {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

/** Evaluates code in the probe process. */
const evaluate = (code: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const id = Math.random();
    const onMessage = (message: { id: number; result?: unknown; error?: string }) => {
      if (message.id !== id) return;
      child.off('message', onMessage);
      if (message.error === undefined) resolve(message.result);
      else reject(new Error(message.error));
    };
    child.on('message', onMessage);
    child.send({ id, code });
  });

const writeHosts = (hosts: object): void => writeFileSync(hostsFile, JSON.stringify(hosts));

const respond: RequestListener = (incoming, response) => {
  response
    .writeHead(207, { 'Set-Cookie': ['a=1', 'b=2'] })
    .end(`${incoming.method} ${incoming.headers.host} ${incoming.url}`);
};

beforeAll(async () => {
  plainPort = await listen(createServer(respond));
  tcpPort = await listen(
    createTcpServer({ allowHalfOpen: true }, socket => {
      socket.on('error', () => undefined);
      socket.once('data', data => {
        const [, how] = /^GET \/(\w+)/.exec(String(data)) ?? [];
        if (how === 'reset') socket.resetAndDestroy();
        if (how === 'half') {
          socket.write('HTTP/1.1 299 Odd\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 10\r\n\r\nhalf');
          socket.end();
        }
        if (how === 'nonsense') socket.end('this is not HTTP\r\n\r\n');
      });
      socket.on('end', () => socket.end('after your end'));
    }),
  );
  writeHosts({ 'listed.example.net': ['10.0.0.1', '2606:4700::1'], 'gone.example.net': [] });
  const mappings = new Map([
    ['plain.example.net', plainPort],
    ['tcp.example.net', tcpPort],
    ['down.example.net', 1],
  ]);
  const site = { name: 'site.example.com', port: 0, handle: respond };
  internet = await startInternet({ mappings, hostsFile, site }, (_source, text) => notes.push(text));
  const files = await writeRuntimeFiles(directory, internet.settings, internet.authorityCertificate);
  writeFileSync(join(directory, 'probe.mjs'), probe);
  child = fork(join(directory, 'probe.mjs'), {
    execArgv: ['--import', files.preloadUrl],
    env: { NODE_EXTRA_CA_CERTS: files.authorityFile },
  });
  await once(child, 'message');
});
afterAll(async () => {
  child.kill('SIGKILL');
  await internet.stop();
  for (const server of servers) server.close();
});

describe('names', () => {
  it.each(['plain.example.net', 'PLAIN.example.net.'])('resolve to a public address: %s', async name => {
    expect(await evaluate(`return resolve4('${name}')`)).toEqual([expect.stringMatching(/^93\.184\./)]);
  });

  it('resolve to the listed addresses of either family', async () => {
    expect(await evaluate("return resolve4('listed.example.net')")).toEqual(['10.0.0.1']);
    expect(await evaluate("return resolve6('listed.example.net')")).toEqual(['2606:4700::1']);
  });

  it.each([
    ["return resolve6('plain.example.net')", 'ENODATA'],
    ["return resolve4('gone.example.net')", 'ENOTFOUND'],
    ["return resolve6('gone.example.net')", 'ENOTFOUND'],
  ])('fail as in DNS if they have no address: %s', async (code, error) => {
    await expect(evaluate(code)).rejects.toThrow(error);
  });
});

// An event loop accepts one connection per iteration, so a busy thread would delay handshakes.
it('completes handshakes while the thread for tables and queues is busy', async () => {
  const ended = join(directory, 'handshakes-ended');
  const handshakes = evaluate(`
    const [host] = await resolve4('plain.example.net');
    const handshake = () => new Promise((resolve, reject) => {
      const socket = tls.connect({ host, port: 443, servername: 'plain.example.net' }, () => resolve(socket.destroy()));
      socket.on('error', reject);
    });
    await Promise.all(Array.from({ length: 20 }, handshake));
    process.getBuiltinModule('fs').writeFileSync(${JSON.stringify(ended)}, '');
  `);
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  for (let attempts = 0; attempts < 500 && !existsSync(ended); attempts++) Atomics.wait(asleep, 0, 0, 20);
  expect(existsSync(ended)).toBe(true);
  await handshakes;
});

describe('connections', () => {
  it('to a mapped name use TLS and reach its server unchanged', async () => {
    expect(await evaluate("return request({ host: 'plain.example.net', path: '/a?b', method: 'PUT' })")).toMatchObject({
      status: 207,
      headers: expect.arrayContaining(['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']),
      body: 'PUT plain.example.net /a?b',
      authorized: true,
    });
    expect(await evaluate("return request({ host: 'plain.example.net', port: 8443 })")).toMatchObject({ status: 207 });
  });

  it('require SNI', async () => {
    const code = (name: string) => `return request({ host: 'plain.example.net', servername: ${JSON.stringify(name)} })`;
    expect(await evaluate(code('plain.example.net'))).toMatchObject({ status: 207, authorized: true });
    await expect(evaluate(code('tcp.example.com'))).rejects.toThrow('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('forward resets, half-closes and malformed responses of the server to the client', async () => {
    await expect(evaluate("return request({ host: 'tcp.example.net', path: '/reset' })")).rejects.toThrow('ECONNRESET');
    await expect(evaluate("return request({ host: 'tcp.example.net', path: '/half' })")).rejects.toThrow(
      /aborted|ECONNRESET/,
    );
    await expect(evaluate("return request({ host: 'tcp.example.net', path: '/nonsense' })")).rejects.toThrow(/^HPE_/);
    await expect(evaluate("return request({ host: 'down.example.net' })")).rejects.toThrow('ECONNRESET');
    const halfClosing = `const [address] = await resolve4('tcp.example.net');
      return new Promise((resolve, reject) => {
      const socket = tls.connect({ host: address, port: 443, servername: 'tcp.example.net', allowHalfOpen: true }, () => socket.end('x'));
      let text = ''; socket.on('data', data => text += data).on('end', () => resolve(text)).on('error', reject); });`;
    expect(await evaluate(halfClosing)).toBe('after your end');
  });

  it('to other addresses are not redirected', async () => {
    const code = `return new Promise((resolve, reject) => http.get('http://127.0.0.1:${plainPort}/x', response => resolve(response.socket.remoteAddress)).on('error', reject))`;
    expect(await evaluate(code)).toBe('127.0.0.1');
  });
});

it('applies changes to the hosts file immediately, in running processes and in the TLS terminator', async () => {
  await expect(evaluate("return resolve4('later.example.test')")).rejects.toThrow();
  writeHosts({ 'later.example.test': `http://127.0.0.1:${plainPort}` });
  expect(await evaluate("return request({ host: 'later.example.test' })")).toMatchObject({
    status: 207,
    authorized: true,
  });
  writeHosts({ 'later.example.test': ['169.254.169.254'] });
  expect(await evaluate("return resolve4('later.example.test')")).toEqual(['169.254.169.254']);
});

it('reports once per outage that the server of a mapped name is not listening', async () => {
  const server = createServer(respond);
  const port = await listen(server);
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  const request = () => evaluate("return request({ host: 'outage.example.net', agent: false })");
  const expectReset = () => expect(request()).rejects.toThrow('ECONNRESET');
  writeHosts({ 'outage.example.net': `http://127.0.0.1:${port}` });
  const outages = () => notes.filter(text => text.includes('outage.example.net'));

  await close();
  await Promise.all([expectReset(), expectReset()]);
  await expectReset();
  const note = `no server is listening at http://localhost:${port} (outage.example.net): start your receiver`;
  expect(outages()).toEqual([note]);
  await once(server.listen(port, '127.0.0.1'), 'listening');
  expect(await request()).toMatchObject({ status: 207 });
  await close();
  await expectReset();
  expect(outages()).toEqual([note, note]);
});

it('reaches a receiver that listens only on ::1', async () => {
  const server = createServer(respond);
  await once(server.listen(0, '::1'), 'listening');
  const { port } = server.address() as AddressInfo;
  writeHosts({ 'six.example.net': `http://localhost:${port}` });
  expect(await evaluate("return request({ host: 'six.example.net', agent: false })")).toMatchObject({ status: 207 });
  server.close();
  server.closeAllConnections();
});

it('connects the name of a site to its server', async () => {
  expect(await evaluate("return request({ host: 'site.example.com', path: '/a' })")).toMatchObject({
    status: 207,
    body: 'GET site.example.com /a',
    authorized: true,
  });
  const { status } = await fetch(`${internet.siteUrl}/b`);
  expect(status).toBe(207);
});

it('changes only the certificate authority in the environment of the process', async () => {
  expect(Object.keys((await evaluate('return process.env')) as object)).toEqual(['NODE_EXTRA_CA_CERTS']);
});

it('rejects a missing or malformed hosts file', async () => {
  const bad = join(directory, 'bad.json');
  const site = { name: 'site.example.com', port: 0, handle: respond };
  const start = () => startInternet({ hostsFile: bad, site }, () => undefined);
  await expect(start()).rejects.toThrow(/^Could not use the hosts file .*bad\.json: ENOENT/);
  writeFileSync(bad, '{');
  await expect(start()).rejects.toThrow(/It is not JSON/);
});
