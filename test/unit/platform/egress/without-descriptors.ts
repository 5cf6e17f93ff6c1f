/** Takes all file descriptors of its process, then tries to POST to a name and to an address. Prints the outcomes. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { createSecureContext } from 'node:tls';
import { makeConnections } from '../../../../lambdas/platform/egress/connections.ts';
import { makeGuardedPost } from '../../../../lambdas/platform/egress/guarded-post.ts';
import { makeOutageDetector } from '../../../../lambdas/platform/egress/outage-detector.ts';
import { makePinnedPost } from '../../../../lambdas/platform/egress/pinned-request.ts';
import { makeResolver } from '../../../../lambdas/platform/egress/resolver.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';

const post = makeGuardedPost({
  ...systemTime,
  resolve: makeResolver(),
  post: makePinnedPost(makeConnections({ connect: options => connect({ ...options, host: '127.0.0.1', port: 9 }) })), // no stranger, should a socket be left
  ownHosts: [],
  outageDetector: makeOutageDetector(systemTime),
  random: Math.random,
});

async function outcomeOf(url: string) {
  const begunAt = performance.now();
  const elapsed = () => performance.now() - begunAt;
  const request = {
    accountId: 'acme',
    url,
    headers: {},
    body: '{}',
    deadlineMs: 5_000,
    connectTimeoutMs: 700,
    elapsed,
  };
  const { outcome, ...rest } = await post(request);
  return { outcome, errorCode: 'errorCode' in rest ? rest.errorCode : undefined };
}

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
const name = await outcomeOf('https://receiver.example.com/');
takeAll(); // those that looking for the name has given back
const outcomes = { name, address: await outcomeOf('https://93.184.216.34/') };
for (const descriptor of taken) closeSync(descriptor);
writeSync(1, JSON.stringify(outcomes));
process.exit();
