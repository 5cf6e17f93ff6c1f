import * as z from 'zod/mini';
import { text } from '../platform/environment.ts';

/** The environment of ScheduledTest. */
export const scheduledTestEnvironment = z.object({
  AUTH_URL: text,
  BASE_URL: text,
  EVENTS_QUEUE_URL: text,
  /** The name of the parameter that stores the smoke-test client and user. */
  CREDENTIALS_PARAMETER: text,
  RECEIVER_URL: text,
});
