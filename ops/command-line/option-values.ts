import { InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { isAccountId, isReservedAccount } from '../../lambdas/auth/principals/account.ts';
import { isClientId } from '../../lambdas/auth/principals/client.ts';
import { isDeliveryId } from '../../lambdas/delivery/delivery.ts';
import { EVENT_NAMES, type EventName, isEventName } from '../../lambdas/webhooks/webhook.ts';
import { longestEmail, parseEmailAddress } from '../stage/email-address.ts';

/** Parses an account id. */
export function accountId(value: string): string {
  if (isAccountId(value)) return value;
  throw new InvalidArgumentError('It must be 1 to 64 letters, digits, "_" or "-".');
}

/** Parses the id of an account that somebody may be given a client, a user or an event of. */
export function ordinaryAccountId(value: string): string {
  if (!isReservedAccount(value)) return accountId(value);
  throw new InvalidArgumentError(`"${value}" is reserved for Emissor itself: "smoke" uses and clears it.`);
}

/** Parses an id or a name that is looked up. */
export function notEmpty(value: string): string {
  if (value !== '') return value;
  throw new InvalidArgumentError('It must not be empty.');
}

/** Parses the id of a client. */
export function clientId(value: string): string {
  if (isClientId(value)) return value;
  throw new InvalidArgumentError(value === '' ? 'It must not be empty.' : 'It must be 1 to 64 letters or digits.');
}

/** Parses the id of a user. */
export function userId(value: string): string {
  return clientId(value); // both are made alike
}

/** Parses what names a user: an e-mail address or an id. */
export function userReference(value: string): string {
  if (!value.includes('@')) return userId(value);
  if (Buffer.byteLength(value) <= longestEmail && !/[\s\p{Cc}]/u.test(value.trim())) return value;
  throw new InvalidArgumentError(`It must be an e-mail address of at most ${longestEmail} bytes, or a user id.`);
}

/** Parses the id of a session. */
export function sessionId(value: string): string {
  if (/^[A-Za-z0-9-]{1,130}$/.test(value)) return value;
  throw new InvalidArgumentError(value === '' ? 'It must not be empty.' : 'It must be letters, digits and "-".');
}

/** Returns a parser of whole numbers from `least` up to `most`; the default is the greatest that JSON represents exactly. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  return function parseWholeNumber(value: string): number {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/** Returns an option that may be given several times, each time with one of these values. */
export function repeatable(flags: string, description: string, choices: readonly string[]): Option {
  const option = new Option(flags, description).choices(choices);
  const parse = option.parseArg;
  return option.argParser((value: string, before: string[] | undefined) => {
    parse?.(value, undefined); // refuses anything but the choices
    return [...(before ?? []), value];
  });
}

/** Returns the option that limits a list. */
export function limitOption(): Option {
  return new Option('--limit <n>', 'show at most n').argParser(wholeNumber(1, 100_000));
}

/** Returns the option that continues a list, with the parser of its ids. */
export function afterOption(noun: string, parse: (value: string) => string): Option {
  return new Option('--after <id>', `go on after the last ${noun} that was shown`).argParser(parse);
}

/** Parses the name of an event that webhooks are registered for. */
export function eventName(value: string): EventName {
  if (isEventName(value)) return value;
  throw new InvalidArgumentError(`It must be one of ${EVENT_NAMES.join(', ')}.`);
}

/** Parses a display name on one line. */
export function displayName(value: string): string {
  const name = value.trim();
  if (name !== '' && [...name].length <= longestName && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return name;
  throw new InvalidArgumentError(`It must be 1 to ${longestName} characters on one line.`);
}

/** Parses an e-mail address, in its stored form. */
export function emailAddress(value: string): string {
  const email = parseEmailAddress(value);
  if (email !== undefined) return email;
  throw new InvalidArgumentError(`It must be an e-mail address of at most ${longestEmail} bytes.`);
}

/** Parses the id of a delivery: its `webhook-id` header. */
export function deliveryId(value: string): string {
  if (isDeliveryId(value)) return value;
  if (value === '') throw new InvalidArgumentError('It must not be empty.');
  throw new InvalidArgumentError('It must be a webhook-id: "evt_" and 27, or "teste_" and 22 letters or digits.');
}

/** Parses the id that SQS gave a message. */
export function messageId(value: string): string {
  if (isMessageId(value)) return value;
  throw new InvalidArgumentError('It must be a message id: 1 to 128 letters, digits, "_" or "-".');
}

/** Parses the id of a delivery or of a message. */
export function deliveryOrMessageId(value: string): string {
  if (isDeliveryId(value) || (isMessageId(value) && !/^(?:evt|teste)_/.test(value))) return value;
  throw new InvalidArgumentError(
    'It must be a webhook-id ("evt_" and 27 letters or digits) or a message id (letters, digits, "_" or "-").',
  );
}

/** Parses the gateway's id of a request, which is base64 of either alphabet. */
export function requestId(value: string): string {
  if (/^[A-Za-z0-9+/_-]{1,126}={0,2}$/.test(value)) return value;
  throw new InvalidArgumentError('It must be the id of a request, such as JKJaXmPLvHcESHA=, after "--".');
}

/** Parses the publisher's own id of an event, measured in characters as in the queue message. */
export function publishersId(value: string): string {
  if (value !== '' && [...value].length <= 128) return value;
  throw new InvalidArgumentError('It must be 1 to 128 characters.');
}

/** Parses the name under which an event was published; Emissor may not know it. */
export function publishedName(value: string): string {
  if (value !== '' && value.length <= 128) return value;
  throw new InvalidArgumentError('It must be the name that the event was published under, such as demanda.criada.');
}

/** The forms of a time in the help of an option. */
export const momentForms = '2026-11-21T09:30:00Z, or how long ago: 90m, 2h, 7d';

/** Returns a parser of times: RFC 3339 with `Z` or an offset, or how long ago. It returns milliseconds since the epoch. */
export function momentBefore(now: () => number = Date.now): (value: string) => number {
  return function parseMoment(value) {
    if (timestamp.safeParse(value).success) return Date.parse(value);
    const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(value) ?? [];
    const ago = Number(count) * (unitMilliseconds[unit] ?? Number.NaN);
    if (count !== '' && ago <= longestAgo) return now() - ago;
    throw new InvalidArgumentError(
      'It must be a time with "Z" or an offset, such as 2026-11-21T09:30:00Z, or how long ago it was, such as 90m, 2h or 7d.',
    );
  };
}

const longestName = 100;

function isMessageId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(text);
}

const timestamp = z.iso.datetime({ offset: true });

const unitMilliseconds: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Ten years, the longest that logs are kept. In milliseconds. */
const longestAgo = 3_653 * 86_400_000;
