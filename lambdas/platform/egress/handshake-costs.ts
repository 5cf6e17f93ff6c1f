import type { Clock } from '../clock.ts';

/**
 * Tells whose handshakes cost this process too much. To check a chain of certificates may take most of a second of processor
 * time in one go: OpenSSL checks each signature, also of a chain that it will refuse, and the receiver chooses the keys.
 */
export interface HandshakeCosts {
  /** A handshake with a host begins. */
  begin(host: string): HandshakeCost;
}

/** The cost of one handshake. */
export interface HandshakeCost {
  /** Whether the host's handshakes have cost too much, and are refused for a while. */
  isTooMuch(): boolean;
  /** Does a part of it, and counts what that costs. */
  of(part: () => void): void;
  /** The part at hand has brought it to a success. */
  succeeded(): void;
}

/** Makes the memory of one process. Only hosts that were costly are in it. */
export function makeHandshakeCosts(now: Clock, processorTime = threadTime): HandshakeCosts {
  const hosts = new Map<string, { excess: number; at: number }>();

  return {
    begin(host) {
      let left = ordinaryCost;
      let isSuccessful = false;
      return {
        isTooMuch() {
          const known = hosts.get(host);
          if (known && now() - known.at >= rememberedFor) hosts.delete(host);
          return (hosts.get(host)?.excess ?? 0) > mostExcess;
        },
        of(part) {
          const before = processorTime();
          part();
          left -= processorTime() - before;
          if (left < 0 || (isSuccessful && hosts.has(host))) addExcess(host, -left);
          left = Math.max(0, left);
        },
        succeeded() {
          isSuccessful = true;
        },
      };
    },
  };

  function addExcess(host: string, milliseconds: number): void {
    const excess = (hosts.get(host)?.excess ?? 0) + milliseconds;
    hosts.delete(host);
    if (excess > 0) hosts.set(host, { excess, at: now() });
    const oldest = hosts.size > mostHosts ? hosts.keys().next().value : undefined;
    if (oldest !== undefined) hosts.delete(oldest);
  }
}

/** The processor time of this thread in milliseconds; what the process waits for a processor is not in it. */
function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** What any handshake may cost, in milliseconds: several times what one with a chain of three certificates does. */
const ordinaryCost = 10;

/** What a host's handshakes may cost beyond that, in milliseconds. What successful ones cost less is taken off. */
const mostExcess = 50;

/** How long a host's excess is remembered after the last costly handshake, in milliseconds. */
const rememberedFor = 10 * 60_000;

/** Hosts that are remembered at most; the one that was costly longest ago is forgotten first. */
const mostHosts = 1_000;
