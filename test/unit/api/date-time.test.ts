import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dateTime, queryDateTime } from '../../../lambdas/api/date-time.ts';
import { processorTimeOf } from '../../support/processor-time.ts';

// Tests times in bodies (RFC 3339) and in queries, which also accept the formats of generated clients (`docs/en/deliveries.md`).

const read = (text: unknown) => dateTime.safeParse(text);

const noon = Date.UTC(2026, 10, 20, 12);

describe('dateTime (RFC 3339 section 5.6)', () => {
  it.each([
    ['2026-11-20T12:00:00Z', Date.UTC(2026, 10, 20, 12)],
    ['2026-11-20T09:00:00-03:00', Date.UTC(2026, 10, 20, 12)],
    ['2026-11-20T17:30:00+05:30', Date.UTC(2026, 10, 20, 12)],
    ['2026-11-20t12:00:00z', Date.UTC(2026, 10, 20, 12)],
    ['2026-11-20T12:00:00.25Z', Date.UTC(2026, 10, 20, 12, 0, 0, 250)],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['2026-11-20T12:00:00.123000Z', Date.UTC(2026, 10, 20, 12, 0, 0, 123)],
    ['2026-11-20T12:00:00.1230001Z', Date.UTC(2026, 10, 20, 12, 0, 0, 124)],
    ['2026-11-20T12:00:00.9999Z', Date.UTC(2026, 10, 20, 12, 0, 1)],
  ])('parses %s', (text, milliseconds) => {
    expect(read(text).data).toBe(milliseconds);
  });

  it.each([
    ...['', 'T12:00:00', 'T12:00Z', ' 12:00:00Z', 'T12:00:00+0300', 'T12:00:00 03:00'].map(time => `2026-11-20${time}`),
    ...['T24:00:00Z', 'T12:60:00Z', 'T12:00:00Z\n', 'T12:00:00.Z'].map(time => `2026-11-20${time}`),
    ...['2026-02-29', '2026-13-01', '+002026-11-20', ' 2026-11-20', '٢٠٢٦-11-20'].map(date => `${date}T12:00:00Z`),
    '',
    1_795_176_000_000,
    null,
  ])('rejects %j', text => {
    expect(read(text).success).toBe(false);
  });

  it('parses any time at any offset', () => {
    const years = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9998-12-31T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(years, fc.integer({ min: -1_439, max: 1_439 }), (date, offset) => {
        const shifted = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1);
        const sign = offset < 0 ? '-' : '+';
        const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
        const text = `${shifted}${sign}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
        expect(read(text).data).toBe(date.getTime());
      }),
    );
  });

  it.each(['0000-01-01T00:00:00+23:59', '9999-12-31T23:59:59.9999-23:59'])('parses %s to a four-digit year', text => {
    expect(new Date(read(text).data ?? Number.NaN).toISOString()).toMatch(/^\d{4}-/);
  });

  it('parses a long fraction in linear time', () => {
    const text = `2026-11-20T12:00:00.${'0'.repeat(1_000_000)}`;
    const processorTime = processorTimeOf(() => {
      expect(read(`${text}Z`).data).toBe(Date.UTC(2026, 10, 20, 12));
      expect(read(`${text}1x`).success).toBe(false);
    });
    expect(processorTime).toBeLessThan(1_000);
  });
});

describe('queryDateTime', () => {
  it.each([
    ['RFC 3339', '2026-11-20T09:00:00-03:00', noon],
    ['RFC 3339 in lower case', '2026-11-20t12:00:00z', noon],
    ['Python by default', '2026-11-20T12:00:00.123456+0000', noon + 124],
    ['Python with a negative offset', '2026-11-20T09:00:00.000000-0300', noon],
    ['Rust', '2026-11-20 12:00:00 +00:00', noon],
    ['Ruby', '2026-11-20 17:30:00 +0530', noon],
    ['a client that writes a space instead of T', '2026-11-20 12:00:00Z', noon],
    ['a client that writes a space before the offset', '2026-11-20T09:00:00 -03:00', noon],
  ])('parses the format of %s: %s', (_writer, text, milliseconds) => {
    expect(queryDateTime.safeParse(text).data).toBe(milliseconds);
  });

  it.each([
    ...[' 12:00:00', '  12:00:00Z', 'T 12:00:00Z', ' 12:00:00Z '].map(time => `2026-11-20${time}`),
    ...['  +00:00', '+00', '+000', '+00:0', '+2400', 'Z:', 'Z00'].map(offset => `2026-11-20T12:00:00${offset}`),
    ...['2026-02-30 12:00:00 +0000', ' 2026-11-20 12:00:00Z', 'ontem'],
  ])('rejects %j', text => {
    const { error } = queryDateTime.safeParse(text);
    expect(error?.issues.map(({ message }) => message)).toEqual([expect.stringContaining('RFC 3339')]);
  });

  it.each(['2026-11-20T12:00:00 00:00', '2026-11-20 12:00:00 0530', '2026-11-20 12:00:00.5  00:00'])(
    'rejects %s and explains how to encode +',
    text => {
      const { error } = queryDateTime.safeParse(text);
      expect(error?.issues.map(({ message }) => message)).toEqual([expect.stringContaining('%2B')]);
    },
  );

  it('parses a long text in linear time', () => {
    const processorTime = processorTimeOf(() => {
      for (const filler of ['0', ' ', '+', ':', '-', '0 ']) {
        const text = `2026-11-20T12:00:00.${filler.repeat(500_000)}`;
        expect(queryDateTime.safeParse(`${text}x`).success).toBe(false);
      }
    });
    expect(processorTime).toBeLessThan(1_000);
  });
});
