import { domainToASCII } from 'node:url';
import { InvalidArgumentError, Option } from 'commander';
import { normaliseEmail } from '../../lambdas/auth/principals/user.ts';
import { EVENT_NAMES, type EventName, isEventName } from '../../lambdas/webhooks/webhook.ts';

/** An account id, as the interface allows them. */
export function accountId(value: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(value)) return value;
  throw new InvalidArgumentError('It must be 1 to 64 letters, digits, "_" or "-".');
}

/** What something is known by. */
export function notEmpty(value: string): string {
  if (value !== '') return value;
  throw new InvalidArgumentError('It must not be empty.');
}

/** A reader of whole numbers from `least` up to `most`, by default the greatest that JSON carries exactly. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  return (value: string): number => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/** An option that may be given several times, each time with one of these values. */
export function repeatable(flags: string, description: string, choices: readonly string[]): Option {
  const option = new Option(flags, description).choices(choices);
  const parse = option.parseArg;
  return option.argParser((value: string, before: string[] | undefined) => {
    parse?.(value, undefined); // refuses anything but the choices
    return [...(before ?? []), value];
  });
}

/** How many of a list to show. */
export function limitOption(): Option {
  return new Option('--limit <n>', 'at most so many').argParser(wholeNumber(1, 100_000));
}

/** Where in a list to go on. */
export function afterOption(noun: string): Option {
  return new Option('--after <id>', `go on after the last ${noun} that was shown`).argParser(notEmpty);
}

/** The name of an event that webhooks are registered for. */
export function eventNameSchema(value: string): EventName {
  if (isEventName(value)) return value;
  throw new InvalidArgumentError(`It must be one of ${EVENT_NAMES.join(', ')}.`);
}

/** A name for people, which fits on one line. */
export function displayName(value: string): string {
  const name = value.trim();
  if (name !== '' && [...name].length <= longestName && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return name;
  throw new InvalidArgumentError(`It must be 1 to ${longestName} characters on one line.`);
}

/** An e-mail address, in the form in which it is stored. What is left of the `@` is its own server's affair. */
export function emailAddress(value: string): string {
  const email = normaliseEmail(value);
  const [, domain = ''] = /^[^\s\p{Cc}@]+@([^\s@]+)$/u.exec(email) ?? [];
  if (isDomain(domain) && Buffer.byteLength(email) <= longestEmail) return email;
  throw new InvalidArgumentError(`It must be an e-mail address of at most ${longestEmail} bytes.`);
}

const longestName = 100;

function isDomain(text: string): boolean {
  return /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(domainToASCII(text));
}

/** The token endpoint refuses longer user names (RFC 5321 section 4.5.3.1.3 leaves 254 for an address). */
const longestEmail = 254;
