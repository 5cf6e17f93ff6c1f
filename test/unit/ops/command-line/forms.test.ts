import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type * as z from 'zod';
import {
  deliveryId,
  deliveryOrMessageId,
  filePath,
  messageId,
  principalId,
  publishersId,
  sessionId,
  time,
  userReference,
} from '../../../../ops/command-line/forms.ts';

const now = Date.UTC(2026, 10, 21, 12);
const read = (text: string) => time.parse(text)(now);
afterEach(() => void vi.unstubAllEnvs());

const problemOf = (form: z.ZodType, value: string) => form.safeParse(value).error?.issues[0]?.message;

// npm changes to the root of the repository.
it('a path is relative to the folder from which npm was called', () => {
  vi.stubEnv('INIT_CWD', '/home/ana/exports');
  expect(filePath.parse('acme.ndjson')).toBe('/home/ana/exports/acme.ndjson');
  expect(filePath.parse('/dev/null')).toBe('/dev/null');
  vi.stubEnv('INIT_CWD', undefined);
  expect(filePath.parse('acme.ndjson')).toBe(`${process.cwd()}/acme.ndjson`);
  expect(problemOf(filePath, '')).toBe('It must not be empty.');
});

describe('a time', () => {
  it.each([
    ['2026-11-21T09:30:00Z', Date.UTC(2026, 10, 21, 9, 30)],
    ['2026-11-21T09:30:00.250-03:00', Date.UTC(2026, 10, 21, 12, 30, 0, 250)],
    ['90m', now - 90 * 60_000],
    ['2h', now - 2 * 3_600_000],
    ['7d', now - 7 * 86_400_000],
    ['0s', now],
  ])('is parsed from %s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  const dates = ['yesterday', '2026-11-21', '2026-11-21T09:30:00', '2026-02-30T00:00:00Z', '2026-11-21 09:30:00Z'];
  it.each(['', ...dates, '999999999d', '-1h', '1w', '1.5h', `${'9'.repeat(100_000)}d`])(
    'is not parsed from %.40s, and the problem shows the accepted forms',
    text => {
      expect(problemOf(time, text)).toMatch(/must be a time .* such as 2026-11-21T09:30:00Z, or a duration .* 90m/);
    },
  );

  it('is parsed from any RFC 3339 time in UTC', () => {
    const times = fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(fc.property(times, time => read(time.toISOString()) === time.getTime()));
  });
});

describe('ids', () => {
  const event = 'evt_2Qm0pXkD1nVb8sYfTzR4uWcJe7H';
  it.each([
    ['the webhook-id of a test', deliveryId, `teste_${'a'.repeat(22)}`],
    ['a webhook-id as either id', deliveryOrMessageId, event],
    ['a message id as either id', deliveryOrMessageId, '87d3a375-8574-4978-998f-80aa10f241f1'],
    ['a publisher’s id of 128 characters', publishersId, '🙂'.repeat(128)],
    ['a user id', userReference, 'nobody'],
    ['an address', userReference, ' José@Example.com '],
    ['a decomposed address of 254 bytes in its stored form', userReference, `${'e\u0301'.repeat(121)}@example.com`],
    ['a session id', sessionId, `${'a'.repeat(22)}-${'Z'.repeat(22)}`],
  ])('are accepted: %s', (_case, form, value) => {
    expect(form.parse(value)).toBe(value);
  });

  it.each([
    ['a short webhook-id', deliveryId, 'evt_x', /must be a webhook-id: "evt_" and 27/],
    ['a webhook-id with a blank', deliveryId, `${event} `, /must be a webhook-id/],
    ['an empty message id', messageId, '', /must be a message id: 1 to 128/],
    ['a message id that ends a query', messageId, 'x" | fields @message', /must be a message id/],
    ['a huge message id', messageId, 'x'.repeat(1_000_000), /must be a message id/],
    ['a cut webhook-id', deliveryOrMessageId, event.slice(0, -1), /webhook-id \("evt_" and 27/],
    ['an empty id of a publisher', publishersId, '', /must be 1 to 128 characters/],
    ['a publisher’s id of 129 characters', publishersId, 'x'.repeat(129), /must be 1 to 128 characters/],
    ['an empty client id', principalId, '', /must not be empty/],
    ['a client id with a blank', principalId, 'a b!', /must be 1 to 64 letters or digits/],
    ['a huge client id', principalId, 'x'.repeat(1_000_000), /must be 1 to 64 letters or digits/],
    ['a user id with a blank', userReference, 'a b', /must be 1 to 64 letters or digits/],
    ['a user id with a path', userReference, 'a/b', /must be 1 to 64 letters or digits/],
    ['a session id with a blank', sessionId, 'a b', /must be letters, digits and "-"/],
  ])('are rejected with a message about the accepted form: %s', (_case, form, value, message) => {
    expect(problemOf(form, value)).toMatch(message);
  });
});
