import type { KMSClient } from '@aws-sdk/client-kms';
import type { Dynamo } from '../../platform/aws/dynamo.ts';
import type { Clock } from '../../platform/clock.ts';
import { makeGuardedPost } from '../../platform/egress/guarded-post.ts';
import { makeOutageDetector } from '../../platform/egress/outage-detector.ts';
import { makeResolver } from '../../platform/egress/resolver.ts';
import { makeSharedResolver } from '../../platform/egress/shared-resolver.ts';
import { makeEventLoopLag } from '../../platform/event-loop-lag.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import { makeSealing } from '../../platform/sealing.ts';
import { afterEvents } from '../../platform/timer.ts';
import type { Random } from '../backoff.ts';
import type { Isolation } from '../isolation/isolation.ts';
import { connectTimeouts } from '../limits.ts';
import { makeAttempt } from './attempt.ts';
import { type AttemptWatchDependencies, makeStartAttemptWatch } from './attempt-watch.ts';

/** The attempts of one process. */
export type Attempts = ReturnType<typeof makeAttempts>;

/** Makes attempts of their parts: the attempt itself, and the watch that records slow ones and may give them up. */
export function makeAttempts(parts: AttemptsParts) {
  const { dynamo, kms, keyringTable, isolation, ownHosts, lane, now, random } = parts;
  const keyring = makeKeyring({ dynamo, kms, table: keyringTable, now });
  keyring.openEarly('sealing');
  const resolve = makeSharedResolver(makeResolver(), now);
  const outageDetector = makeOutageDetector({ now });
  const eventLoopLag = makeEventLoopLag();
  return {
    attempt: makeAttempt({
      ...parts,
      post: makeGuardedPost({ resolve, ownHosts, outageDetector, now, random }),
      sealing: makeSealing(keyring),
      eventLoopLag,
      connectTimeoutMs: connectTimeouts[lane],
    }),
    startAttemptWatch: makeStartAttemptWatch({ ...parts, ...isolation, eventLoopLag, after: afterEvents }),
  };
}

interface AttemptsParts extends Pick<AttemptWatchDependencies, 'hasMessages' | 'lane' | 'giveUp' | 'attemptTimeoutMs'> {
  readonly dynamo: Dynamo;
  readonly kms: Pick<KMSClient, 'send'>;
  readonly keyringTable: string;
  readonly isolation: Pick<Isolation, 'tracker' | 'dnsTimeouts'>;
  /** Host names of this service's own APIs, which no delivery may go to. */
  readonly ownHosts: readonly string[];
  readonly serviceVersion: string;
  readonly now: Clock;
  readonly random: Random;
}
