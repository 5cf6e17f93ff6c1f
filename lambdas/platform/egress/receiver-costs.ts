import type { Clock } from '../clock.ts';
import { remember } from '../remember.ts';

export type ReceiverCosts = ReturnType<typeof makeReceiverCosts>;

export type ConnectionCost = ReturnType<ReceiverCosts['open']>;

/**
 * Makes the memory of one process: which receivers, and which accounts, cost it too much. To check a chain of certificates may take
 * a good part of a second of processor time in one go: OpenSSL checks each signature, also of a chain that it will refuse, and the
 * receiver chooses the keys. Such a cost cannot be limited, but it need not be paid again and again. An account may register a new
 * name for each attempt, so that costs are counted by both. Only what was costly is remembered.
 */
export function makeReceiverCosts(now: Clock, processorTime = threadTime) {
  const hosts = makeExcesses(now);
  const accounts = makeExcesses(now);
  return { open };

  /** Begins to count the cost of a new connection to a host, for an account. */
  function open(host: string, accountId: string) {
    const both = [hosts.of(host), accounts.of(accountId)].map(excess => ({ excess, left: ordinaryCost }));
    let isAnswered = false;
    return { isTooMuch, of, ofAccount, answered, next };

    /** Returns whether the host or the account has cost too much: then it gets no new connection for a while. */
    function isTooMuch(): boolean {
      return both.some(({ excess }) => excess.milliseconds() > mostExcess);
    }

    /** Does a part of the work for this connection, and counts what that costs. */
    function of<T>(part: () => T, payers = both): T {
      const before = processorTime();
      const done = part();
      const cost = processorTime() - before;
      for (const payer of payers) {
        payer.left -= cost;
        if (payer.left < 0 || (isAnswered && payer.excess.milliseconds() > 0)) {
          payer.excess.add(-payer.left);
          payer.left = 0;
        }
      }
      return done;
    }

    /** Does what is costly by the account's doing: others have webhooks at that host, too. */
    function ofAccount<T>(part: () => T): T {
      return of(part, both.slice(1));
    }

    function answered(): void {
      isAnswered = true;
    }

    /** Counts what comes from now on to the next attempt. */
    function next(): void {
      for (const payer of both) payer.left = ordinaryCost;
      isAnswered = false;
    }
  }
}

/** Makes an empty memory of costs beyond the ordinary, by a key. */
function makeExcesses(now: Clock) {
  const known = new Map<string, { readonly milliseconds: number; readonly at: number }>();

  return {
    /** Returns the excess of a key. */
    of: (key: string) => ({
      milliseconds(): number {
        const excess = known.get(key);
        if (excess && now() - excess.at >= rememberedFor) known.delete(key);
        return known.get(key)?.milliseconds ?? 0;
      },
      add(more: number): void {
        const milliseconds = (known.get(key)?.milliseconds ?? 0) + more;
        if (milliseconds > 0) remember(known, key, { milliseconds, at: now() }, mostKeys);
        else known.delete(key);
      },
    }),
  };
}

/** Returns the processor time of this thread in milliseconds; what the process waits for a processor is not in it. */
function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** The cost that any attempt may have, in milliseconds: several times that of an attempt with a new connection. */
const ordinaryCost = 10;

/**
 * The cost that a host, and an account, may have beyond that, in milliseconds. An answered attempt that costs less reduces it by the
 * difference.
 */
const mostExcess = 50;

/** The time that an excess is remembered after it was last added to, in milliseconds. */
const rememberedFor = 10 * 60_000;

/** The most hosts, and the most accounts, that are remembered; what was costly longest ago is forgotten first. */
const mostKeys = 1_000;
