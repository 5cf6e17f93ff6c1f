import * as z from 'zod/mini';
import { optionalText, text } from '../platform/environment.ts';

/** The environment of the receiver. */
export const receiverEnvironment = z.object({
  /** The parameter with the secret that tests make their keys with. */
  RECEIVER_KEY_PARAMETER: text,
});

/** As infrastructure sets it. */
export type ReceiverEnvironment = z.input<typeof receiverEnvironment>;

/** The environment of the scheduled test. */
export const scheduledTestEnvironment = z.object({
  AUTH_URL: text,
  BASE_URL: text,
  EVENTS_QUEUE_URL: text,
  /** The parameter with the client secret and the password of the scheduled test. */
  CREDENTIALS_PARAMETER: text,
  RECEIVER_URL: text,
  /** The parameter with the secret of the stage's own receiver; empty for another receiver. */
  RECEIVER_KEY_PARAMETER: optionalText,
});

/** As infrastructure sets it. */
export type ScheduledTestEnvironment = z.input<typeof scheduledTestEnvironment>;
