import type { KMSClient } from '@aws-sdk/client-kms';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Dynamo } from './aws/dynamo.ts';
import type { Publish } from './aws/topic.ts';
import type { ReadParameter } from './deployment/parameters.ts';
import type { PinnedPost } from './egress/pinned-request.ts';
import type { Resolve } from './egress/resolver.ts';
import { type KeyDerivation, systemKeyDerivation } from './key-derivation.ts';
import { type Random, systemRandom } from './random.ts';
import { systemTime, type Time } from './timer.ts';

/**
 * All external effects of a process. A composition (`*.composition.ts`) receives the effects that its function needs, and passes them on as
 * narrow functions, such as `dynamo` to a store. Tests pass virtual time and their own services, so a function is deterministic.
 *
 * A handler passes the real effects. All handlers share `systemRuntime`. Functions such as `makeDynamo` and `makeSqs` create the others, so
 * a bundle contains only the clients that its function uses.
 */
export interface Runtime {
  readonly time: Time;
  readonly random: Random;
  readonly keyDerivation: KeyDerivation;
  readonly dynamo: Dynamo;
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly kms: Pick<KMSClient, 'send'>;
  readonly publish: Publish;
  readonly resolve: Resolve;
  readonly post: PinnedPost;
  readonly readParameter: ReadParameter;
  /** Sends a request to the service's own URLs. Only the smoke test uses it. */
  readonly fetch: (url: string, request: RequestInit) => Promise<Response>;
}

/** The real effects that all functions share. */
export const systemRuntime: Pick<Runtime, 'time' | 'random' | 'keyDerivation'> = {
  time: systemTime,
  random: systemRandom,
  keyDerivation: systemKeyDerivation,
};
