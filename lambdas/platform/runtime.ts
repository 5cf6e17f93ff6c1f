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
 * What leads out of a process, all of it. Compositions take the part that their function needs (`*.composition.ts`), and what they
 * make takes narrow functions: a store takes `dynamo`, a rule `now`. Where all of this is given, a function does the same each time:
 * tests give it virtual time and services of their own.
 *
 * A handler composes its function with the machine's own. `systemRuntime` is what each has; the rest are makers (`makeDynamo`, `makeSqs`,
 * `makeKms`, `makePublish`, `makeResolver`, `makePinnedPost` …), so that a bundle carries no client that its function does not use.
 */
export interface Runtime {
  readonly time: Time;
  readonly random: Random;
  readonly keyDerivation: KeyDerivation;
  readonly dynamo: Dynamo;
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly kms: Pick<KMSClient, 'send'>;
  /** Publishes a message to an SNS topic. */
  readonly publish: Publish;
  /** Resolves a name of the public DNS. */
  readonly resolve: Resolve;
  /** Sends one POST to an address that the SSRF guard has allowed. What connections cost in processor time is judged behind it. */
  readonly post: PinnedPost;
  readonly readParameter: ReadParameter;
  /** Sends a request to the service's own URLs: only its smoke test does. */
  readonly fetch: (url: string, request: RequestInit) => Promise<Response>;
}

/** What the machine itself gives to each function. */
export const systemRuntime: Pick<Runtime, 'time' | 'random' | 'keyDerivation'> = {
  time: systemTime,
  random: systemRandom,
  keyDerivation: systemKeyDerivation,
};
