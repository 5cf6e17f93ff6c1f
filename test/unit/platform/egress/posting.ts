import { onTestFinished } from 'vitest';
import { makeConnections, type Network } from '../../../../lambdas/platform/egress/connections.ts';
import {
  type GuardedPost,
  type GuardedPostDependencies,
  makeGuardedPost,
  type PostRequest,
} from '../../../../lambdas/platform/egress/guarded-post.ts';
import { makePinnedPost } from '../../../../lambdas/platform/egress/pinned-request.ts';
import type { Resolve } from '../../../../lambdas/platform/egress/resolver.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { type Act, type HostileIdentity, startHostileReceiver } from '../../../../tools/support/hostile-tls.ts';
import { certify, loopbackNetwork, type Names, type Play, startTlsReceiver, type TlsReceiver } from './tls-receiver.ts';

export const publicAddress = '93.184.216.34';
export const otherAddress = '93.184.216.35';

const plain: Resolve = async () => [publicAddress];

export const request: PostRequest = {
  accountId: 'acme',
  url: 'https://receiver.example.com/hook?a=b',
  headers: { 'content-type': 'application/json', authorization: 'Bearer s3cret' },
  body: '{"event":"demanda.criada","id_demanda":1}',
  deadlineMs: 5_000,
  connectTimeoutMs: 4_000,
};

export const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** Writes a text and leaves the connection open. */
export const say =
  (text: string): Play =>
  socket =>
    socket.write(text);

export const reset: Play = socket => socket.destroy();

/** Responds to the n-th request with the n-th play, and to all further requests with the last one. */
export const inTurn = (...plays: [Play, ...Play[]]): Play => {
  let turn = 0;
  return (socket, received) => (plays[Math.min(turn++, plays.length - 1)] ?? plays[0])(socket, received);
};

/** Creates a guarded POST with its own connections, unless a test passes others. */
export const postWith = (dependencies: Partial<GuardedPostDependencies>): GuardedPost => {
  const now = dependencies.now ?? (() => performance.now());
  return makeGuardedPost({
    ...systemTime,
    post: makePinnedPost(),
    resolve: plain,
    ownHosts: ['base.emissor.example.net'],
    now,
    random: () => 0,
    ...dependencies,
  });
};

interface Situation extends Partial<Omit<GuardedPostDependencies, 'post'>> {
  readonly trust?: boolean;
  readonly names?: Names;
  readonly fates?: Parameters<typeof loopbackNetwork>[2];
  /** Returns the port for connections. @default - the receiver's port */
  readonly port?: (receiver: TlsReceiver) => Promise<number>;
}

/** Starts a receiver, and a guarded POST that always connects to it. Both end with the test. */
export const start = async (play: Play, { trust = true, names, fates, port, ...dependencies }: Situation = {}) => {
  const receiver = await startTlsReceiver(play, names);
  const { targets, network } = loopbackNetwork(
    (await port?.(receiver)) ?? receiver.port,
    trust ? receiver.certificate : undefined,
    fates,
  );
  onTestFinished(receiver.stop);
  return { receiver, targets, ...postVia(network, dependencies) };
};

export const outcomeOf = async (play: Play, changes: Partial<PostRequest> = {}, situation: Situation = {}) =>
  (await start(play, situation)).post({ ...request, ...changes });

/** Starts a receiver that writes its own TLS records, and a guarded POST that always connects to it. */
export const startHostile = async (act: Act, handshake: Omit<HostileIdentity, 'key' | 'certificate'> = {}) => {
  const { private: key, cert: certificate } = await certify();
  const receiver = await startHostileReceiver(act, { key, certificate, ...handshake });
  onTestFinished(receiver.stop);
  const { network, sockets } = loopbackNetwork(receiver.port, certificate);
  return { ...postVia(network), sockets, closed: receiver.closed };
};

export const postVia = (network: Network, dependencies: Partial<GuardedPostDependencies> = {}) => {
  const connections = makeConnections(network);
  onTestFinished(() => {
    connections.reusable.destroy();
    connections.fresh.destroy();
  });
  return { connections, post: postWith({ ...dependencies, post: makePinnedPost(connections) }) };
};
