import { type SlownessOwner, slownessId, slownessOf } from '../../lambdas/delivery/isolation/slowness-store.ts';
import { batchGet } from '../../lambdas/platform/batch-get.ts';
import { iso } from './report.ts';
import { connectDynamo } from './stores.ts';
import { requireOutput, type Target } from './target.ts';

// Loaded by the commands that need it, when they do: the SDK takes longer to load than the rest takes to run.

/**
 * Since when the attempts of each of these are made in the slow lane; `null` where they are not. It belongs to account and
 * event, and not to the registration.
 */
export async function readSlowSince(
  target: Target,
  owners: readonly SlownessOwner[],
): Promise<readonly (string | null)[]> {
  const dynamo = connectDynamo(target);
  const table = requireOutput(target, 'DeliveriesTable');
  const found: (string | null)[] = [];
  for (let start = 0; start < owners.length; start += longestRead) {
    const some = owners.slice(start, start + longestRead);
    const items = await batchGet(
      dynamo,
      some.map(owner => ({ table, key: { id: slownessId(owner) } })),
    );
    found.push(...some.map((owner, at) => iso(slownessOf(owner, items[at]).slowSince)));
  }
  return found;
}

/** What DynamoDB reads in one request. */
const longestRead = 100;
