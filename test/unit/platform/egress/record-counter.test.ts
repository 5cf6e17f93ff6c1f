import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRecordCounter } from '../../../../lambdas/platform/egress/record-counter.ts';

const record = (length: number): Buffer =>
  Buffer.concat([Buffer.of(23, 3, 3, length >> 8, length & 0xff), Buffer.alloc(length, 22)]);

const recordLengths = fc.array(fc.oneof(fc.constant(0), fc.nat(30), fc.nat(2 ** 14 + 256)), { maxLength: 40 });

/** Cuts a stream in pieces of these lengths, again and again; none is empty for ever. */
const cut = (stream: Buffer, lengths: readonly number[]): Buffer[] => {
  const pieces: Buffer[] = [];
  for (let at = 0, piece = 0; at < stream.length; piece++) {
    const length = lengths[piece % lengths.length] ?? 1;
    pieces.push(stream.subarray(at, at + length));
    at += length;
  }
  return pieces;
};

const all = Number.POSITIVE_INFINITY;

describe('TLS records', () => {
  it('are counted alike however their stream is cut', () => {
    fc.assert(
      fc.property(recordLengths, fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1 }), (lengths, cuts) => {
        const counter = makeRecordCounter();
        for (const piece of cut(Buffer.concat(lengths.map(record)), cuts))
          expect(counter.count(piece, 0, all)).toBe(piece.length);
        expect(counter.records()).toBe(lengths.length);
      }),
    );
  });

  it('are counted byte by byte, each with its first byte', () => {
    const counter = makeRecordCounter();
    const counts = [...Buffer.concat([record(2), record(0), record(1)])].map(byte => {
      counter.count(Buffer.of(byte), 0, all);
      return counter.records();
    });
    expect(counts).toEqual([...Array(7).fill(1), ...Array(5).fill(2), ...Array(6).fill(3)]);
  });

  it('are handed on so many at once, none skipped and none cut but by the end of what has come', () => {
    fc.assert(
      fc.property(
        recordLengths,
        fc.integer({ min: 1, max: 5_000 }),
        fc.integer({ min: 1, max: 20 }),
        (lengths, length, most) => {
          const counter = makeRecordCounter();
          for (const piece of cut(Buffer.concat(lengths.map(record)), [length])) {
            for (let at = 0; at < piece.length; ) {
              const before = counter.records();
              const until = counter.count(piece, at, most);
              expect(until).toBeGreaterThan(at);
              expect(counter.records() - before).toBeLessThanOrEqual(most);
              if (until < piece.length) expect(counter.records() - before).toBe(most);
              at = until;
            }
          }
          expect(counter.records()).toBe(lengths.length);
        },
      ),
    );
  });
});
