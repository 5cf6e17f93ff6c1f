import * as z from 'zod';
import type { InvocationOutcome } from '../lambda/invocation.ts';

/**
 * Which messages of a batch are done with and may be deleted, as Lambda's event source mapping decides it.
 *
 * With `ReportBatchItemFailures`, an empty or absent list (or an empty answer) means that all succeeded; an answer that
 * is malformed, or names an empty or unknown message, fails the whole batch. Without it, only a fault fails a batch.
 */
export function succeeded(
  messageIds: readonly string[],
  result: InvocationOutcome,
  reportsItemFailures: boolean,
): readonly string[] {
  if (result.outcome === 'failed') return [];
  if (!reportsItemFailures) return messageIds;
  let answer: unknown;
  try {
    answer = JSON.parse(result.payload);
  } catch {
    return [];
  }
  if (answer === null || answer === '') return messageIds;
  const { success, data } = partialResponse.safeParse(answer);
  if (!success) return [];
  const failed = new Set((data.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
  if ([...failed].some(id => !messageIds.includes(id))) return [];
  return messageIds.filter(id => !failed.has(id));
}

const partialResponse = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string().min(1) })).nullish(),
});
