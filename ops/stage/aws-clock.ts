import * as z from 'zod';
import type { Clock } from '../../lambdas/platform/clock.ts';

/** The time of a target: the machine's clock, put right by what the target's answers say. */
export type AwsClock = ReturnType<typeof makeAwsClock>;

/** Makes a clock that follows the machine's until an answer contradicts it. */
export function makeAwsClock(machineClock: Clock) {
  let ahead = 0;
  return { now, aheadBy, learn, learnFrom };

  /** Returns AWS's time, which is right to within a second once an answer was seen. */
  function now(): number {
    return machineClock() - ahead;
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
    const receivedAt = machineClock();
    const latest = earliest + 999 + Math.max(receivedAt - sentAt, 0);
    ahead = receivedAt - Math.min(Math.max(now(), earliest), latest);
  }

  /** Learns from the answers that a client gets. Returns the client. */
  function learnFrom<Client extends AwsClient>(client: Client): Client {
    client.middlewareStack.add(
      next => async args => {
        const sentAt = machineClock();
        const result = await next(args);
        learn(datedAnswer.safeParse(result.response).data?.headers.date, sentAt);
        return result;
      },
      { step: 'deserialize', name: 'learnTime' },
    );
    return client;
  }
}

/** Any client of the SDK. */
export interface AwsClient {
  readonly middlewareStack: {
    add(middleware: Middleware, options: { readonly step: 'deserialize'; readonly name: string }): void;
  };
}

/** A step of every client's calls: it passes on what it is given and returns what comes back. */
type Middleware = <Call, Result extends { readonly response: unknown }>(
  next: (call: Call) => Promise<Result>,
) => (call: Call) => Promise<Result>;

const datedAnswer = z.object({ headers: z.object({ date: z.string() }) });
