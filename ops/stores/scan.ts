import { ScanCommand, type ScanCommandInput, type ScanCommandOutput } from '@aws-sdk/lib-dynamodb';
import type { Dynamo, Item } from '../../lambdas/platform/aws/dynamo.ts';

/** Selects a part of a list. By default, the whole list. */
export interface PageRequest {
  readonly limit?: number;
  /** The id of the last item on the previous page. */
  readonly after?: string;
}

/** Scans a table in table order. Lambda functions never scan. */
export async function scanTable<Parsed>(
  dynamo: Dynamo,
  { table, partitionKey, limit, after, where, parse, onPage }: ScanRequest<Parsed>,
): Promise<Parsed[]> {
  const found: Parsed[] = [];
  let from: Item | undefined = after === undefined ? undefined : { [partitionKey]: after };
  let read = 0;
  const [attribute, value] = Object.entries(where ?? {})[0] ?? [];
  const filter = attribute !== undefined && {
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
        ...(filter || { Limit: limit }), // with a filter, a limit would also count the excluded items
      }),
    );
    read += page.ScannedCount ?? 0;
    onPage?.(read);
    found.push(...(page.Items ?? []).map(parse).filter(item => item !== undefined));
    from = page.LastEvaluatedKey;
  } while (from && (limit === undefined || found.length < limit));
  return found.slice(0, limit);
}

/** The result of a bounded read of a table. */
export interface FoundItems<Parsed> {
  readonly found: readonly Parsed[];
  /** The number of items read. */
  readonly read: number;
  /** True if there are more items than were read. */
  readonly isCutOff: boolean;
}

/** Returns the items that match a filter in the first `maxPages` pages of a table. A page has at most 1 MiB. */
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
    const response: ScanCommandOutput = await dynamo(new ScanCommand({ ...filter, ExclusiveStartKey: from }));
    found.push(...(response.Items ?? []).map(parse).filter(item => item !== undefined));
    read += response.ScannedCount ?? 0;
    from = response.LastEvaluatedKey;
    if (!from) break;
  }
  return { found, read, isCutOff: from !== undefined };
}

interface ScanRequest<Parsed> extends PageRequest {
  readonly table: string;
  readonly partitionKey: string;
  readonly parse: (item: Item) => Parsed | undefined;
  /** The attribute and the value that items must have. The scan still reads the whole table. */
  readonly where?: Readonly<Record<string, string>> | undefined;
  /** Receives the number of items read so far. */
  readonly onPage?: ((read: number) => void) | undefined;
}
