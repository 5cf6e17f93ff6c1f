import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Dynamo, Item } from '../../platform/aws/dynamo.ts';

/** A part of a list; without limit and start, all of it. */
export interface PageRequest {
  readonly limit?: number;
  /** The id of the last item of the page before. */
  readonly after?: string;
}

/** Scans a table for operators, in its own order; the functions never scan. */
export async function scanTable<Parsed>(
  dynamo: Dynamo,
  { table, partitionKey, limit, after, where, parse, onPage }: ScanRequest<Parsed>,
): Promise<Parsed[]> {
  const found: Parsed[] = [];
  let from: Item | undefined = after === undefined ? undefined : { [partitionKey]: after };
  let read = 0;
  const [attribute, value] = Object.entries(where ?? {})[0] ?? [];
  const narrowed = attribute !== undefined && {
    FilterExpression: '#attribute = :value',
    ExpressionAttributeNames: { '#attribute': attribute },
    ExpressionAttributeValues: { ':value': value },
  };
  do {
    const page = await dynamo(
      new ScanCommand({
        TableName: table,
        ConsistentRead: true,
        ExclusiveStartKey: from,
        ...(narrowed || { Limit: limit }), // a limit would count what is dropped, too
      }),
    );
    read += page.ScannedCount ?? 0;
    onPage?.(read);
    found.push(...(page.Items ?? []).map(parse).filter(item => item !== undefined));
    from = page.LastEvaluatedKey;
  } while (from && (limit === undefined || found.length < limit));
  return found.slice(0, limit);
}

interface ScanRequest<Parsed> extends PageRequest {
  readonly table: string;
  readonly partitionKey: string;
  readonly parse: (item: Item) => Parsed | undefined;
  /** The one attribute, and its value, that items must have. The whole table is read for them. */
  readonly where?: Readonly<Record<string, string>> | undefined;
  /** Is told how many items were read so far. */
  readonly onPage?: ((read: number) => void) | undefined;
}
