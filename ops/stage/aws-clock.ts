import * as z from 'zod';
import type { Clock } from '../../lambdas/platform/clock.ts';

/** This machine's clock, corrected by a target's responses. */
export type AwsClock = ReturnType<typeof makeAwsClock>;

/** Creates a clock that follows the machine's clock until a response contradicts it. */
export function makeAwsClock(machineClock: Clock) {
  let ahead = 0;
  return { now, aheadBy, adjust, adjustFrom };

  /** Returns AWS time, accurate to 1 s after the first response. */
  function now(): number {
    return machineClock() - ahead;
  }

  /** Returns the milliseconds by which the machine's clock is ahead of AWS. The result is negative if it is behind. */
  function aheadBy(): number {
    return ahead;
  }

  /**
   * Corrects the clock from the `Date` header of a response, which is in whole seconds. Applies the smallest correction that
   * agrees with the header.
   * @param sentAt - the time of the request, by this machine's clock.
   */
  function adjust(date: string | undefined, sentAt: number): void {
    const earliest = Date.parse(date ?? '');
    if (Number.isNaN(earliest)) return;
    const receivedAt = machineClock();
    const latest = earliest + 999 + Math.max(receivedAt - sentAt, 0);
    ahead = receivedAt - Math.min(Math.max(now(), earliest), latest);
  }

  /** Corrects the clock from all responses to a client. Returns the client. */
  function adjustFrom<Client extends AwsClient>(client: Client): Client {
    client.middlewareStack.add(
      next => async args => {
        const sentAt = machineClock();
        const result = await next(args);
        adjust(datedResponse.safeParse(result.response).data?.headers.date, sentAt);
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

/** A client middleware that leaves calls and results unchanged. */
type Middleware = <Call, Result extends { readonly response: unknown }>(
  next: (call: Call) => Promise<Result>,
) => (call: Call) => Promise<Result>;

const datedResponse = z.object({ headers: z.object({ date: z.string() }) });
