import { readFileSync } from 'node:fs';
import path from 'node:path';
import { eventReasons } from '../../packages/publisher/src/events.ts';

/** A message of a caller, and what becomes of it. */
export interface EventVector {
  readonly case: string;
  readonly message: unknown;
}

/** A message that is refused, and why. */
export interface RefusedVector extends EventVector {
  readonly findings: readonly { readonly field: string; readonly reason: string }[];
}

/** The test vectors that the service and both publishers share. */
export const vectors: {
  readonly accepted: readonly (EventVector & { readonly webhookId?: string })[];
  readonly refused: readonly RefusedVector[];
  readonly unknownFields: readonly RefusedVector[];
} = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../packages/publisher/test-vectors.json'), 'utf8'),
  (key, value) => (key === 'reason' && value === 'is unknown' ? eventReasons.unknown : value),
);
