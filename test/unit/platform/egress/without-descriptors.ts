/** Takes all file descriptors of its process, then tries to POST to an address. Prints the outcome. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { createSecureContext } from 'node:tls';
import { makeConnections } from '../../../../lambdas/platform/egress/connections.ts';
import { makeGuardedPost } from '../../../../lambdas/platform/egress/guarded-post.ts';
import { makePinnedPost } from '../../../../lambdas/platform/egress/pinned-request.ts';
import { makeResolver } from '../../../../lambdas/platform/egress/resolver.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';

const post = makeGuardedPost({
  ...systemTime,
  resolve: makeResolver(),
  post: makePinnedPost(makeConnections({ connect: options => connect({ ...options, host: '127.0.0.1', port: 9 }) })), // no stranger, should a socket be left
  ownHosts: [],
  random: Math.random,
});

const taken: number[] = [];

/** Takes what is left of them. */
function takeAll(): void {
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {
    // none is left
  }
}

createSecureContext(); // waits for the thread that loads NODE_EXTRA_CA_CERTS: it would give a descriptor back later
takeAll();
const { outcome, ...rest } = await post({
  accountId: 'acme',
  url: 'https://93.184.216.34/',
  headers: {},
  body: '{}',
  deadlineMs: 5_000,
  connectTimeoutMs: 700,
});
for (const descriptor of taken) closeSync(descriptor);
writeSync(1, JSON.stringify({ outcome, errorCode: 'errorCode' in rest ? rest.errorCode : undefined }));
process.exit();
