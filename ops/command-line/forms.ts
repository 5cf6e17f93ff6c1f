import path from 'node:path';
import * as z from 'zod';
import { isAccountId, isReservedAccount } from '../../lambdas/auth/principals/account.ts';
import { isClientId } from '../../lambdas/auth/principals/client.ts';
import { isDeliveryId } from '../../lambdas/delivery/delivery.ts';
import { replayIdForm } from '../../lambdas/delivery/replay/replay.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import { parseEmailAddress } from '../stage/email-address.ts';

// The forms of values, each with the error message for a value of another form.

export const accountId = z.string().refine(isAccountId, 'It must be 1 to 64 letters, digits, "_" or "-".');

/** The id of an account that can have clients, users or events. */
export const ordinaryAccountId = accountId.refine(value => !isReservedAccount(value), {
  error: ({ input }) => `"${input}" is reserved for Emissor itself: "smoke" uses it.`,
});

/** An id or a name to look up. */
export const notEmpty = z.string().min(1, 'It must not be empty.');

/** A path relative to the folder in which npm was called, because npm changes to the root of the repository. */
export const filePath = notEmpty.transform(callersPath);

/** The id of a client or of a user. Both have the same form. */
export const principalId = notEmpty.refine(isClientId, 'It must be 1 to 64 letters or digits.');

/** The text that identifies a user, which is an e-mail address or an id. */
export const userReference = z.string().superRefine((value, context) => {
  const form = value.includes('@') ? emailAddress : principalId;
  for (const { message } of form.safeParse(value).error?.issues ?? []) context.addIssue(message);
});

export const sessionId = notEmpty.regex(/^[A-Za-z0-9-]{1,130}$/, 'It must be letters, digits and "-".');

/** Returns the form of whole numbers from `least` to `most`, by default the largest safe integer. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  return z
    .string()
    .refine(value => /^\d+$/.test(value) && Number(value) >= least && Number(value) <= most, {
      error: `It must be a whole number from ${least} to ${most}.`,
    })
    .transform(Number);
}

/** The name of an event that webhooks are registered for. */
export const eventName = z.string().pipe(z.literal(EVENT_NAMES, `It must be one of ${EVENT_NAMES.join(', ')}.`));

const maxName = 100;

/** A display name on one line. */
export const displayName = z
  .string()
  .trim()
  .refine(name => name !== '' && [...name].length <= maxName && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name), {
    error: `It must be 1 to ${maxName} characters on one line.`,
  });

/** An e-mail address. Its value is the stored form. */
export const emailAddress = z.string().transform((value, context) => {
  const { email, problem } = parseEmailAddress(value);
  return email ?? refuse(context, `It ${problem}.`);
});

/** The id of a delivery, which is its `webhook-id` header. */
export const deliveryId = notEmpty.refine(
  isDeliveryId,
  'It must be a webhook-id: "evt_" and 27, or "teste_" and 22 letters or digits.',
);

export const replayId = notEmpty.regex(replayIdForm, 'It must be "reenvio_" and 22 letters or digits.');

/** The message id that SQS assigned. */
export const messageId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,128}$/, 'It must be a message id: 1 to 128 letters, digits, "_" or "-".');

export const deliveryOrMessageId = z
  .string()
  .refine(value => isDeliveryId(value) || (messageId.safeParse(value).success && !/^(?:evt|teste)_/.test(value)), {
    error: 'It must be a webhook-id ("evt_" and 27 letters or digits) or a message id (letters, digits, "_" or "-").',
  });

/** The publisher's own id of an event. Its length is measured in characters, as in the queue message. */
export const publishersId = z
  .string()
  .refine(value => value !== '' && [...value].length <= 128, 'It must be 1 to 128 characters.');

/** The name under which an event was published. It may be unknown to Emissor. */
export const publishedName = z
  .string()
  .regex(/^.{1,128}$/s, 'It must be the name under which the event was published, such as demanda.criada.');

/** The accepted forms of a time, for the help of an option. */
export const momentForms = '2026-11-21T09:30:00Z, or how long ago: 90m, 2h, 7d';

/**
 * A time in RFC 3339 with `Z` or an offset, or how long ago. Its value is a function of the present time that returns
 * milliseconds since the epoch.
 */
export const moment = z.string().transform((value, context) => {
  const time = timestamp.safeParse(value).success ? Date.parse(value) : undefined;
  if (time !== undefined) return () => time;
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(value) ?? [];
  const ago = Number(count) * (unitMilliseconds[unit] ?? Number.NaN);
  if (count !== '' && ago <= maxAgo) return (now: number) => now - ago;
  return refuse(
    context,
    'It must be a time with "Z" or an offset, such as 2026-11-21T09:30:00Z, or how long ago it was, such as 90m, 2h or 7d.',
  );
});

function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

const timestamp = z.iso.datetime({ offset: true });

const unitMilliseconds: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Ten years, the longest retention of logs. In milliseconds. */
const maxAgo = 3_653 * 86_400_000;

/** Returns the absolute path of a file on the caller's command line. */
export function callersPath(file: string): string {
  return path.resolve(process.env.INIT_CWD ?? process.cwd(), file);
}
