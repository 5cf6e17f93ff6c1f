import type { KMSClient } from '@aws-sdk/client-kms';
import type { Dynamo } from '../../platform/aws/dynamo.ts';
import { makeGuardedPost } from '../../platform/egress/guarded-post.ts';
import type { PinnedPost } from '../../platform/egress/pinned-request.ts';
import type { Resolve } from '../../platform/egress/resolver.ts';
import { makeSharedResolver } from '../../platform/egress/shared-resolver.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import { makeUnsealing } from '../../platform/sealing.ts';
import type { Time } from '../../platform/timer.ts';
import type { Random } from '../backoff.ts';
import type { Isolation } from '../lanes/isolation.ts';
import { makeAttempt } from './attempt.ts';
import { type AttemptWatchDependencies, makeStartAttemptWatch } from './attempt-watch.ts';

/** The time in which each address of a receiver must accept a connection, by lane, in milliseconds. */
export const connectTimeouts = { first: 700, retry: 700, slow: 4_000 } as const;

export type Attempts = ReturnType<typeof makeAttempts>;

/** Makes attempts of their parts: the attempt itself, and the watch that records slow ones and may give them up. */
export function makeAttempts(parts: AttemptsParts) {
  const keyring = makeKeyring({ ...parts, table: parts.keyringTable });
  keyring.openEarly('sealing');
  const resolve = makeSharedResolver(parts.resolve, parts.now);
  return {
    attempt: makeAttempt({
      ...parts,
      post: makeGuardedPost({ ...parts, resolve }),
      sealing: makeUnsealing(keyring),
      connectTimeoutMs: connectTimeouts[parts.lane],
    }),
    startAttemptWatch: makeStartAttemptWatch({ ...parts, ...parts.isolation }),
  };
}

interface AttemptsParts extends Time, Pick<AttemptWatchDependencies, 'lane'> {
  readonly attemptTimeoutMs: number;
  readonly dynamo: Dynamo;
  readonly kms: Pick<KMSClient, 'send'>;
  readonly resolve: Resolve;
  readonly post: PinnedPost;
  readonly keyringTable: string;
  readonly isolation: Pick<Isolation, 'tracker'>;
  /** Host names of this service's own APIs, which no delivery may go to. */
  readonly ownHosts: readonly string[];
  readonly serviceVersion: string;
  readonly random: Random;
}
