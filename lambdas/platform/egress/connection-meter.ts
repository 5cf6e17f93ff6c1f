import type { ConnectionCost } from './receiver-costs.ts';
import { makeRecordCounter } from './record-counter.ts';

/** The phase of a connection: each has limits of its own. */
export type ConnectionPhase = keyof typeof limits;

/** The limits of what may come in each phase of a connection. */
export const limits = {
  /** Handshakes bring 3 to 10 KiB, and 30 where everything in them is large. A KiB of keys costs us up to 7 ms. */
  handshake: { bytes: 32 * 1_024, records: 64 },
  /** From the handshake, or the reuse of a kept connection, to the last header. */
  headers: { bytes: 32 * 1_024, records: 256 },
  body: { bytes: Number.POSITIVE_INFINITY, records: 128 },
  idle: { bytes: 32 * 1_024, records: 16 },
} as const;

/** Makes the meter of a new connection. It counts what a receiver sends, and tells when that is more than any needs to. */
export function makeConnectionMeter(cost: ConnectionCost) {
  const received = makeRecordCounter();
  let handshakesSinceCipher = Number.NEGATIVE_INFINITY;
  const sent = makeRecordCounter(type => {
    if (type === changeCipherSpec) handshakesSinceCipher = 0;
    if (type === handshake) handshakesSinceCipher += 1;
  });
  let phase: ConnectionPhase = 'handshake';
  let bytes = 0;
  let recordsBefore = 0;
  let tickets = 0;
  return { enter, countReceived, countSent, countTicket };

  /** Counts anew, by the limits of this phase. A connection begins with the handshake. */
  function enter(next: ConnectionPhase): void {
    if (next === 'body') cost.answered();
    if (phase === 'idle') cost.next(); // not before: an answer is redacted while its connection is idle
    phase = next;
    bytes = 0;
    recordsBefore = received.records();
    tickets = 0;
  }

  /**
   * Counts a part of what came, from the offset `start` on: as many records as may be handed to TLS at once. Returns the offset
   * behind it.
   *
   * @throws {ExcessError} where that is too much. TLS must not see it.
   */
  function countReceived(data: Uint8Array, start: number): number {
    if (phase === 'handshake' && cost.isTooMuch()) throw new ExcessError('COSTLY_RECEIVER');
    const end = received.count(data, start, recordsAtOnce);
    bytes += end - start;
    if (bytes > limits[phase].bytes) throw new ExcessError('TOO_MANY_BYTES');
    if (received.records() - recordsBefore > limits[phase].records) throw new ExcessError('TOO_MANY_RECORDS');
    return end;
  }

  /**
   * Counts what TLS sends.
   *
   * @throws {ExcessError} where that answers a request to renegotiate.
   */
  function countSent(data: Uint8Array): void {
    sent.count(data);
    // Under TLS 1.2 the second handshake record after the change of ciphers begins another handshake. OpenSSL's own refusal
    // (SSL_OP_NO_RENEGOTIATION) is an alert for each request, of which a receiver packs thousands in one record.
    if (handshakesSinceCipher > 1) throw new ExcessError('RENEGOTIATION');
  }

  /**
   * Counts a session ticket (RFC 8446 section 4.6.1), of which hundreds fit in one record.
   *
   * @throws {ExcessError} where it is one too many.
   */
  function countTicket(): void {
    tickets += 1;
    if (tickets > maximumTickets) throw new ExcessError('TOO_MANY_TICKETS');
  }
}

/** A receiver sent more than any needs to. `code` says of what. */
export class ExcessError extends Error {
  override readonly name = 'ExcessError';
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** Types of records. */
const changeCipherSpec = 20;
const handshake = 22;

/** The most session tickets of a phase. Servers usually send two, and a few more after their own key has changed. */
const maximumTickets = 16;

/** The most records that are handed on at once: 4 KiB hold 150 KeyUpdates, which are two to four milliseconds of work. */
const recordsAtOnce = 16;
