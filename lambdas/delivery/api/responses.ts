import * as z from 'zod/mini';
import { deliveryRecord, wireReplayStates } from '../representation.ts';

/*
 * The response schemas of the deliveries API, except the record of a delivery. The API's functions import only the types. Clients
 * and the OpenAPI document use the schemas.
 */

/** A page of deliveries, newest first. */
export const deliveryPage = z.object({
  entregas: z.array(deliveryRecord),
  /** The start of the next page, or `null` at the end. */
  proximo_cursor: z.nullable(z.string()),
});

export const acceptedDelivery = z.object({ id: z.string() });

export const replayRecord = z.object({
  id: z.string(),
  estado: z.enum(Object.values(wireReplayStates)),
  enviadas: z.int().check(z.nonnegative()),
});
