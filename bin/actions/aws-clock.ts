import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Clock, systemClock } from '../../lambdas/platform/clock.ts';
import type { Target } from './target.ts';

/** The time of a target: the machine's clock, put right by what the target's answers say. */
export type AwsClock = ReturnType<typeof makeAwsClock>;

/** Returns the clock of a target. Each target has one for as long as it is in use. */
export function clockOf(target: Target): AwsClock {
  const known = clocks.get(target);
  const clock = known ?? makeAwsClock();
  if (!known) clocks.set(target, clock);
  return clock;
}

/** Makes a clock that follows the machine's until an answer contradicts it. */
export function makeAwsClock(machine: Clock = systemClock) {
  let ahead = 0;
  return { now, aheadBy, learn, learnFrom };

  /** Returns AWS's time, which is right to within a second once an answer was seen. */
  function now(): number {
    return machine() - ahead;
  }

  /** Returns by how much the machine's clock is ahead of AWS's, in milliseconds; below zero where it is behind. */
  function aheadBy(): number {
    return ahead;
  }

  /**
   * Learns from the `Date` of an answer, which has whole seconds. The time is changed no more than the answer asks for: what it leaves
   * open is the machine's.
   *
   * @param sentAt - when its request was sent, by this machine's clock.
   */
  function learn(date: string | undefined, sentAt: number): void {
    const earliest = Date.parse(date ?? '');
    if (Number.isNaN(earliest)) return;
    const receivedAt = machine();
    const latest = earliest + 999 + Math.max(receivedAt - sentAt, 0);
    ahead = receivedAt - Math.min(Math.max(now(), earliest), latest);
  }

  /** Learns from the answers that a client gets. Returns the client. */
  function learnFrom<Client extends AwsClient>(client: Client): Client {
    client.middlewareStack.add(
      next => async args => {
        const sentAt = machine();
        const result = await next(args);
        const { headers } = result.response as { readonly headers?: Readonly<Record<string, string>> };
        learn(headers?.date, sentAt);
        return result;
      },
      { step: 'deserialize', name: 'learnTime' },
    );
    return client;
  }
}

/** Any client of the SDK. */
interface AwsClient {
  readonly middlewareStack: Pick<DynamoDBClient['middlewareStack'], 'add'>;
}

const clocks = new WeakMap<Target, AwsClock>();
