import * as z from 'zod/mini';
import { list, text, wholeNumber } from '../platform/environment.ts';
import { baseApiEnvironment } from '../webhooks/environment.ts';
import { lanes } from './lane-routing.ts';

/** The waits between attempts in milliseconds, as a comma-separated list. A schedule of n waits allows n + 1 attempts. */
const retrySchedule = z.pipe(list, z.array(wholeNumber));

const demandsUrl = z.pipe(
  text,
  z.transform(url => url.replace(/\/+$/, '')),
);

/** The environment variables of the consumers DeliverFirst (events queue), DeliverRetry (retry queue) and DeliverSlow (slow queue). */
export const deliverEnvironment = z.object({
  WEBHOOKS_TABLE: text,
  DELIVERIES_TABLE: text,
  KEYRING_TABLE: text,
  LANE: z.enum(lanes),
  /** The queue that the function consumes. */
  QUEUE_URL: text,
  RETRY_QUEUE_URL: text,
  SLOW_QUEUE_URL: text,
  DEAD_LETTER_QUEUE_URL: text,
  REJECTED_EVENTS_TOPIC_ARN: text,
  /** The public base URL for links to demands. Trailing slashes are removed. */
  DEMANDS_URL: demandsUrl,
  RETRY_SCHEDULE: retrySchedule,
  /** The timeout for an attempt, from name resolution to the last response header. */
  ATTEMPT_TIMEOUT_MS: wholeNumber,
  /** The maximum number of concurrent processes in the slow lane. They share the attempts of a slow webhook. */
  SLOW_CONCURRENCY: wholeNumber,
  /** The host names of this service's own APIs. Deliveries to them are not allowed. */
  OWN_HOSTS: list,
  /** The version in the `User-Agent` header of attempts. */
  SERVICE_VERSION: text,
});

export const sweepEnvironment = z.object({
  DELIVERIES_TABLE: text,
  /** The sweeper reads registrations and pending announcements from this table. */
  WEBHOOKS_TABLE: text,
  RETRY_QUEUE_URL: text,
  /** The topic for announcements about webhooks. */
  OPERATIONS_TOPIC_ARN: text,
});

/** The environment variables of DeliveriesApi, which handles the history, resends, tests and replays. */
export const deliveriesApiEnvironment = z.extend(baseApiEnvironment, {
  RETRY_QUEUE_URL: text,
  /** The public base URL for the links in sample events. */
  DEMANDS_URL: demandsUrl,
});
