import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { makeKms } from '@emissor/cloud/kms';
import type { ProcessOutside } from '@emissor/cloud/virtual';
import type { Dynamo } from '../../lambdas/platform/aws/dynamo.ts';
import { failureRecorder } from '../../lambdas/platform/aws/failed-call.ts';
import type { PinnedPost, PinnedRequestOutcome } from '../../lambdas/platform/egress/pinned-request.ts';
import { machine, type Outside } from '../../lambdas/platform/outside.ts';
import type { Time } from '../../lambdas/platform/timer.ts';
import { noMessages } from '../support/delivery-world/stepped-cloud.ts';

/** The faults of a stage, which a test switches on and off. */
export interface Faults {
  /** KMS opens no key. */
  kms: boolean;
  /** DynamoDB takes nothing and tells nothing. */
  store: boolean;
  /** The queues whose consumers are switched off. */
  off: readonly string[];
  /** The sweeper is switched off. */
  sweeper: boolean;
  /** What receivers do with a POST. */
  receivers: Receivers;
  /** The address of receivers. */
  address: string;
}

/** An answer, and the milliseconds until it comes. */
interface Receivers extends Pick<Extract<PinnedRequestOutcome, { outcome: 'response' }>, 'status' | 'headers'> {
  readonly afterMs: number;
}

/** Returns receivers that answer so: at once, or after so many milliseconds. */
export function answering(status: number, headers: Receivers['headers'] = {}, afterMs = 0): Receivers {
  return { status, headers, afterMs };
}

/** Returns a stage without faults. */
export function noFaults(): Faults {
  const receivers = answering(200);
  return { kms: false, store: false, off: [], sweeper: false, receivers, address: '93.184.216.34' };
}

/** Makes what leads out of a stage's processes, with its faults. */
export function makeOutside(faults: Readonly<Faults>, kms: Pick<ReturnType<typeof makeKms>, 'send'>) {
  return function outsideOf({ time, dynamodb, sqs }: ProcessOutside) {
    const dynamo: Dynamo = async (command, options) => {
      if (faults.store) throw throttled(command);
      return dynamodb.send(command, options);
    };
    return {
      time,
      random: { ...machine.random, number: () => 0.5 },
      dynamo,
      sqs: {
        send: (command, options) => sqs.send(command instanceof ReceiveMessageCommand ? noMessages : command, options),
      },
      kms: { send: command => (faults.kms ? Promise.reject(named('AccessDeniedException')) : kms.send(command)) },
      publish: async () => {},
      resolve: async () => [faults.address],
      post: postIn(time),
    } satisfies Partial<Outside>;
  };

  function postIn({ pause }: Pick<Time, 'pause'>): PinnedPost {
    return async function post({ signal, onAnswered }) {
      const { afterMs, ...answer } = faults.receivers;
      if (afterMs > 0) await pause(afterMs, signal).catch(() => undefined);
      if (signal.aborted) return { outcome: 'aborted', isConnected: true };
      onAnswered();
      return { outcome: 'response', ...answer, body: Buffer.alloc(0), isTruncated: false };
    };
  }
}

/** Returns the error of a call that DynamoDB throttled, of which the SDK told its logger. */
export function throttled({ constructor: { name: commandName }, input }: { readonly input: object }): Error {
  const error = named('ThrottlingException');
  failureRecorder.error({ clientName: 'DynamoDBClient', commandName, input, error });
  return error;
}

function named(name: string): Error {
  return Object.assign(new Error('…'), { name });
}
