import * as z from 'zod/mini';
import { list, text, wholeNumber } from '../platform/environment.ts';
import { baseApiEnvironment } from '../webhooks/environment.ts';
import { lanes } from './lane-routing.ts';

/** The waits between attempts, in milliseconds, separated by commas. n waits allow n + 1 attempts. */
const retrySchedule = z.pipe(list, z.array(wholeNumber));

const demandsUrl = z.pipe(
  text,
  z.transform(url => url.replace(/\/+$/, '')),
);

/** The variables of the consumers: DeliverFirst (events queue), DeliverRetry (retry queue) and DeliverSlow (slow queue). */
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
  /** The public address of demands, with which links start. A trailing slash makes no difference. */
  DEMANDS_URL: demandsUrl,
  RETRY_SCHEDULE: retrySchedule,
  /** The timeout of an attempt, from resolving the name to the last response header. */
  ATTEMPT_TIMEOUT_MS: wholeNumber,
  /** The concurrency of the slow lane, whose processes share a slow webhook's attempts. */
  SLOW_CONCURRENCY: wholeNumber,
  /** Host names of this service's own APIs. Deliveries to them are not allowed. */
  OWN_HOSTS: list,
  /** The version in the `User-Agent` that receivers see. */
  SERVICE_VERSION: text,
});

/** The variables of the sweeper. */
export const sweepEnvironment = z.object({
  DELIVERIES_TABLE: text,
  /** The table of webhooks. The sweeper reads which registrations exist and which suspensions must be announced. */
  WEBHOOKS_TABLE: text,
  RETRY_QUEUE_URL: text,
  /** The topic for announcements of suspensions. */
  OPERATIONS_TOPIC_ARN: text,
});

/** The variables of DeliveriesApi, which serves the deliveries of a webhook, resends, tests and replays. */
export const deliveriesApiEnvironment = z.extend(baseApiEnvironment, {
  RETRY_QUEUE_URL: text,
  /** The public address of demands, with which the links of sample events start. */
  DEMANDS_URL: demandsUrl,
});
