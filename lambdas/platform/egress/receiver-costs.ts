import type { Clock } from '../clock.ts';

/** Tells which receivers cost this process too much. */
export type ReceiverCosts = ReturnType<typeof makeReceiverCosts>;

/** The cost of one connection. */
export type ConnectionCost = ReturnType<ReceiverCosts['open']>;

/**
 * Makes the memory of one process: which receivers cost it too much. To check a chain of certificates may take most of a second of
 * processor time in one go: OpenSSL checks each signature, also of a chain that it will refuse, and the receiver chooses the keys.
 * Such a cost cannot be limited, but it need not be paid again and again. Only hosts that were costly are remembered.
 */
export function makeReceiverCosts(now: Clock, processorTime = threadTime) {
  const hosts = new Map<string, { excess: number; at: number }>();
  return { open };

  /** Begins to count the cost of a new connection to a host. */
  function open(host: string) {
    let left = ordinaryCost;
    let isAnswered = false;
    return { isTooMuch, of, answered, next };

    /** Returns whether the host has cost too much: then it gets no new connection for a while. */
    function isTooMuch(): boolean {
      const known = hosts.get(host);
      if (known && now() - known.at >= rememberedFor) hosts.delete(host);
      return (hosts.get(host)?.excess ?? 0) > mostExcess;
    }

    /** Does a part of the work for this connection, and counts what that costs. */
    function of(part: () => void): void {
      const before = processorTime();
      part();
      left -= processorTime() - before;
      if (left < 0 || (isAnswered && hosts.has(host))) {
        addExcess(host, -left);
        left = 0;
      }
    }

    /** Notes that the host has answered. */
    function answered(): void {
      isAnswered = true;
    }

    /** Counts what comes from now on to the next attempt. */
    function next(): void {
      left = ordinaryCost;
      isAnswered = false;
    }
  }

  function addExcess(host: string, milliseconds: number): void {
    const excess = (hosts.get(host)?.excess ?? 0) + milliseconds;
    hosts.delete(host);
    if (excess > 0) hosts.set(host, { excess, at: now() });
    const oldest = hosts.size > mostHosts ? hosts.keys().next().value : undefined;
    if (oldest !== undefined) hosts.delete(oldest);
  }
}

/** Returns the processor time of this thread in milliseconds; what the process waits for a processor is not in it. */
function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** The cost that any attempt may have, in milliseconds: several times that of an attempt with a new connection. */
const ordinaryCost = 10;

/** The cost that a host may have beyond that, in milliseconds. An answered attempt that costs less reduces it by the difference. */
const mostExcess = 50;

/** The time that a host's excess is remembered after it was last added to, in milliseconds. */
const rememberedFor = 10 * 60_000;

/** The most hosts that are remembered; the one that was costly longest ago is forgotten first. */
const mostHosts = 1_000;
