import { withUnits } from '@emissor/local-cloud/testing';
import type { Database } from './database.ts';

/** Calls and request units of DynamoDB. */
export interface StoreCounts {
  readonly calls: number;
  readonly read: number;
  readonly write: number;
}

/**
 * Counts what is sent through a test file's database from now on. Queries, unless asked for, and scans are passed on uncounted: a sweep's
 * queries are shared by all that is due, and only tests scan. Returns the function that takes the counts so far.
 */
export function meterDatabase(database: Database, countsQueries = false): () => StoreCounts {
  const call = makeCall(database);
  let counts = noCounts;
  database.client.middlewareStack.add(
    next => async args => {
      const { headers, body } = args.request as { headers: Record<string, string>; body: unknown };
      const operation = String(headers['x-amz-target']).split('.').at(-1) ?? '';
      if (operation === 'Scan' || (operation === 'Query' && !countsQueries)) return next(args);
      const input = JSON.parse(typeof body === 'string' ? body : Buffer.from(body as Uint8Array).toString());
      let refused: unknown;
      const perform = () =>
        next(args).then(
          answer => ({ answer, body: answer.output as object }),
          error => {
            refused = error; // a write whose condition fails has its price, too
            return { answer: undefined, body: {} };
          },
        );
      const { answer, units } = await withUnits(operation, input, call, perform);
      counts = { calls: counts.calls + 1, read: counts.read + units.read, write: counts.write + units.write };
      if (answer === undefined) throw refused;
      return answer;
    },
    { step: 'finalizeRequest', priority: 'low', name: 'countUnits' },
  );
  return function takeCounts() {
    const taken = counts;
    counts = noCounts;
    return taken;
  };
}

const noCounts: StoreCounts = { calls: 0, read: 0, write: 0 };

/** Calls the engine over HTTP, past the counted client. */
function makeCall({ endpoint, region }: Database): Parameters<typeof withUnits>[2] {
  const scope = `Credential=local/20261121/${region}/dynamodb/aws4_request`;
  return async function callOperation(operation, input) {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDB_20120810.${operation}`,
        'x-amz-date': '20261121T000000Z',
        authorization: `AWS4-HMAC-SHA256 ${scope}, SignedHeaders=host, Signature=test`,
      },
      body: JSON.stringify(input),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
}
