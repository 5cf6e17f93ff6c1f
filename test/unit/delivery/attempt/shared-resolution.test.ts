import { expect, it, vi } from 'vitest';
import { makeStartAttemptWatch } from '../../../../lambdas/delivery/attempt/attempt-watch.ts';
import { unknownSlowness } from '../../../../lambdas/delivery/lanes/slowness.ts';
import { makeConnections } from '../../../../lambdas/platform/egress/connections.ts';
import { makePinnedPost } from '../../../../lambdas/platform/egress/pinned-request.ts';
import { makeResolver, type NameServer } from '../../../../lambdas/platform/egress/resolver.ts';
import { makeSharedResolver } from '../../../../lambdas/platform/egress/shared-resolver.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { useVirtualTime } from '../../../support/virtual-time.ts';
import { postWith, publicAddress } from '../../platform/egress/posting.ts';
import { loopbackNetwork } from '../../platform/egress/tls-receiver.ts';
import { aDelivery, attemptWith, aWebhook, silentTracker } from '../builders.ts';

/* Attempts at one host share a DNS lookup, and each checks every address (`docs/delivery.md`, step 4). */

const accounts = Array.from({ length: 50 }, (_, index) => `conta-${index}`);

/** Attempts for fifty accounts at one host that begin at once. Its first answer is lost: it comes after this many milliseconds. */
const attemptAll = async (lostFor: number, addresses: readonly string[]) => {
  useVirtualTime();
  const now = () => performance.now();
  const slow: string[] = [];
  const { meant, network } = loopbackNetwork(0, undefined, new Map([[publicAddress, 'ECONNREFUSED']]));
  let asked = 0;
  const nameServer = {
    resolve4: () => {
      asked += 1;
      return new Promise(resolve => setTimeout(resolve, lostFor, [...addresses]));
    },
    resolve6: async () => [],
    cancel: () => undefined,
  } as unknown as NameServer;
  const startAttemptWatch = makeStartAttemptWatch({
    tracker: { ...silentTracker, recordSlow: async ({ accountId }) => void slow.push(accountId) },
    ...systemTime,
    now,
    lane: 'first',
  });
  const attempt = attemptWith({
    post: postWith({
      resolve: makeSharedResolver(
        makeResolver(() => nameServer),
        now,
      ),
      post: makePinnedPost(makeConnections(network)),
    }),
    now,
  });
  const made = accounts.map(async accountId => {
    const webhook = aWebhook({ accountId });
    const watch = startAttemptWatch(webhook, unknownSlowness, () => false);
    const { outcome, record } = await attempt(webhook, aDelivery({ accountId }), watch);
    await watch.end({ outcome, record } as Parameters<typeof watch.end>[0]);
    return record.result;
  });
  for (let passed = 0; passed < 3_000; passed += 100) await vi.advanceTimersByTimeAsync(100);
  return { results: new Set(await Promise.all(made)), slow, connections: meant.map(({ host }) => host), asked };
};

it('fifty accounts at one host share one lookup, and each pins a connection', async () => {
  const { results, slow, connections, asked } = await attemptAll(2_050, [publicAddress]);
  expect({ results, slow, asked }).toEqual({ results: new Set(['connection']), slow: accounts, asked: 1 });
  expect(connections).toEqual(accounts.map(() => publicAddress));
});

it('each of them judges every address of the shared answer', async () => {
  const { results, connections } = await attemptAll(10, [publicAddress, '169.254.169.254']);
  expect({ results, connections }).toEqual({ results: new Set(['blocked']), connections: [] });
});
