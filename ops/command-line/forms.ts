import path from 'node:path';
import * as z from 'zod';
import { isAccountId, isReservedAccount } from '../../lambdas/auth/principals/account.ts';
import { isClientId } from '../../lambdas/auth/principals/client.ts';
import { isDeliveryId } from '../../lambdas/delivery/delivery.ts';
import { replayIdForm } from '../../lambdas/delivery/replay/replay.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import { parseEmailAddress } from '../stage/email-address.ts';

// Schemas for the values of arguments and options, with their error messages.

export const accountId = z.string().refine(isAccountId, 'It must be 1 to 64 letters, digits, "_" or "-".');

/** The id of an account that can have clients, users or events. */
export const ordinaryAccountId = accountId.refine(value => !isReservedAccount(value), {
  error: ({ input }) => `"${input}" is reserved for smoke tests.`,
});

/** An id or a name to look up. */
export const notEmpty = z.string().min(1, 'It must not be empty.');

/** A path relative to the folder from which npm was called, because npm changes to the root of the repository. */
export const filePath = notEmpty.transform(resolvePath);

/** The id of a client or a user. Both have the same format. */
export const principalId = notEmpty.refine(isClientId, 'It must be 1 to 64 letters or digits.');

/** The e-mail address or the id of a user. */
export const userReference = z.string().superRefine((value, context) => {
  const form = value.includes('@') ? emailAddress : principalId;
  for (const { message } of form.safeParse(value).error?.issues ?? []) context.addIssue(message);
});

export const sessionId = notEmpty.regex(/^[A-Za-z0-9-]{1,130}$/, 'It must be letters, digits and "-".');

/** Returns the schema for a whole number from `min` to `max`. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  return z
    .string()
    .refine(value => /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max, {
      error: `It must be a whole number from ${min} to ${max}.`,
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

/** An e-mail address, converted to its stored form. */
export const emailAddress = z.string().transform((value, context) => {
  const { email, problem } = parseEmailAddress(value);
  return email ?? reject(context, `It ${problem}.`);
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

/** The publisher's id for an event. Its length is measured in characters, as in the queue message. */
export const publishersId = z
  .string()
  .refine(value => value !== '' && [...value].length <= 128, 'It must be 1 to 128 characters.');

/** The name of a published event, which may be unknown to Emissor. */
export const publishedName = z
  .string()
  .regex(/^.{1,128}$/s, 'It must be the name of the published event, such as demanda.criada.');

/** The accepted forms of a time, for the help of an option. */
export const timeForms = 'a time such as 2026-11-21T09:30:00Z, or a duration before now: 90m, 2h, 7d';

/**
 * An RFC 3339 time with `Z` or an offset, or a duration before now. The value is a function that takes the present time
 * and returns milliseconds since the epoch.
 */
export const time = z.string().transform((value, context) => {
  const exact = timestamp.safeParse(value).success ? Date.parse(value) : undefined;
  if (exact !== undefined) return () => exact;
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(value) ?? [];
  const ago = Number(count) * (unitMilliseconds[unit] ?? Number.NaN);
  if (count !== '' && ago <= maxAgo) return (now: number) => now - ago;
  return reject(
    context,
    'It must be a time with "Z" or an offset, such as 2026-11-21T09:30:00Z, or a duration before now, such as 90m, 2h or 7d.',
  );
});

function reject(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

const timestamp = z.iso.datetime({ offset: true });

const unitMilliseconds: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The longest log retention, 10 years, in milliseconds. */
const maxAgo = 3_653 * 86_400_000;

/** Resolves a path from the command line against the caller's folder. */
export function resolvePath(file: string): string {
  return path.resolve(process.env.INIT_CWD ?? process.cwd(), file);
}
