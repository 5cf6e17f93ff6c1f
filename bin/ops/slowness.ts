import { type SlownessOwner, slownessId, slownessOf } from '../../lambdas/delivery/slowness-store.ts';
import { readTogether } from '../../lambdas/platform/dynamodb.ts';
import { connectDocuments } from './documents.ts';
import { iso } from './report.ts';
import { requireOutput, type Target } from './target.ts';

// Loaded by the commands that need it, when they do: the SDK takes longer to load than the rest takes to run.

/** What DynamoDB reads in one request. */
const longestRead = 100;

/**
 * Adds to what is shown of webhooks since when their attempts are made in the slow lane: that belongs to account and event,
 * and not to the registration.
 */
export async function withSlowness<Shown extends SlownessOwner>(
  target: Target,
  webhooks: readonly Shown[],
): Promise<(Shown & { readonly slowSince: string | null })[]> {
  const documents = connectDocuments(target);
  const table = requireOutput(target, 'DeliveriesTable');
  const shown: (Shown & { readonly slowSince: string | null })[] = [];
  for (let start = 0; start < webhooks.length; start += longestRead) {
    const some = webhooks.slice(start, start + longestRead);
    const items = await readTogether(
      documents,
      some.map(owner => ({ table, key: { id: slownessId(owner) } })),
    );
    shown.push(
      ...some.map((webhook, at) => ({ ...webhook, slowSince: iso(slownessOf(webhook, items[at]).slowSince) })),
    );
  }
  return shown;
}
