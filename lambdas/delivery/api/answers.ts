import * as z from 'zod/mini';
import { deliveryRecord, wireReplayStates } from '../representation.ts';

/*
 * The answers of the API of deliveries, besides a delivery's record. Its functions import the types alone: the schemas are for
 * those who read answers, and for the OpenAPI document.
 */

/** A page of deliveries, newest first. */
export const deliveryPage = z.object({
  entregas: z.array(deliveryRecord),
  /** The start of the next page; `null` at the end. */
  proximo_cursor: z.nullable(z.string()),
});

export const acceptedDelivery = z.object({ id: z.string() });

export const replayRecord = z.object({
  id: z.string(),
  estado: z.enum(Object.values(wireReplayStates)),
  enviadas: z.int().check(z.nonnegative()),
});
