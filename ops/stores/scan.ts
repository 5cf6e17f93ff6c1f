import { ScanCommand, type ScanCommandInput, type ScanCommandOutput } from '@aws-sdk/lib-dynamodb';
import type { Dynamo, Item } from '../../lambdas/platform/aws/dynamo.ts';

/** A part of a list. By default, the whole list. */
export interface PageRequest {
  readonly limit?: number;
  /** The id of the last item of the previous page. */
  readonly after?: string;
}

/** Scans a table for operators, in its own order. The functions never scan. */
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
        ...(narrowed || { Limit: limit }), // a limit would also count filtered items
      }),
    );
    read += page.ScannedCount ?? 0;
    onPage?.(read);
    found.push(...(page.Items ?? []).map(parse).filter(item => item !== undefined));
    from = page.LastEvaluatedKey;
  } while (from && (limit === undefined || found.length < limit));
  return found.slice(0, limit);
}

/** The items that a bounded read of a table found. */
export interface FoundItems<Parsed> {
  readonly found: readonly Parsed[];
  /** The number of items read. */
  readonly read: number;
  /** True if there are more items than were read. */
  readonly isCutOff: boolean;
}

/** Reads at most a number of pages of a table, of 1 MiB each, and returns the items that match the filter. */
export async function scanPages<Parsed>(
  dynamo: Dynamo,
  filter: Pick<
    ScanCommandInput,
    'TableName' | 'FilterExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
  >,
  parse: (item: Item) => Parsed | undefined,
  maxPages: number,
): Promise<FoundItems<Parsed>> {
  const found: Parsed[] = [];
  let read = 0;
  let from: Item | undefined;
  for (let page = 0; page < maxPages; page++) {
    const answer: ScanCommandOutput = await dynamo(new ScanCommand({ ...filter, ExclusiveStartKey: from }));
    found.push(...(answer.Items ?? []).map(parse).filter(item => item !== undefined));
    read += answer.ScannedCount ?? 0;
    from = answer.LastEvaluatedKey;
    if (!from) break;
  }
  return { found, read, isCutOff: from !== undefined };
}

interface ScanRequest<Parsed> extends PageRequest {
  readonly table: string;
  readonly partitionKey: string;
  readonly parse: (item: Item) => Parsed | undefined;
  /** The attribute, with its value, that items must have. The scan still reads the whole table. */
  readonly where?: Readonly<Record<string, string>> | undefined;
  /** Receives the number of items read so far. */
  readonly onPage?: ((read: number) => void) | undefined;
}
