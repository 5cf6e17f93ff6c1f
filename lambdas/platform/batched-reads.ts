import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { batchGetLimit, byPlace, type Item, type ItemKey, itemAt, placeOf, readPlaces } from './dynamo.ts';

/** Reads items consistently, in the order asked for; `undefined` where there is none. */
export type ReadItems = (addresses: readonly ItemKey[]) => Promise<(Item | undefined)[]>;

/**
 * Makes a reader that shares its calls: what the messages of a batch ask for in one turn of the event loop is read in one
 * call, each item once, and beyond 100 items in several side by side. Nothing is kept: what is asked for later is read anew.
 * A reading throws `UnprocessedKeysError` when DynamoDB kept one of its own keys back twice.
 */
export function makeBatchedReads(dynamo: Pick<DynamoDBDocumentClient, 'send'>): ReadItems {
  let wanted: ItemKey[] = [];
  let nextCalls: Promise<Calls> | undefined;

  const begin = async (): Promise<Calls> => {
    await Promise.resolve();
    const addresses = wanted;
    wanted = [];
    nextCalls = undefined;
    return beginCalls(dynamo, addresses);
  };

  return async function readItems(addresses) {
    wanted.push(...addresses);
    nextCalls ??= begin();
    const calls = await nextCalls;
    return Promise.all(
      addresses.map(async address => itemAt((await calls.get(placeOf(address))) ?? new Map(), address)),
    );
  };
}

/** The call that reads a place. */
type Calls = ReadonlyMap<string, ReturnType<typeof readPlaces>>;

function beginCalls(dynamo: Pick<DynamoDBDocumentClient, 'send'>, addresses: readonly ItemKey[]): Calls {
  const places = [...byPlace(addresses)];
  const calls = new Map<string, ReturnType<typeof readPlaces>>();
  for (let first = 0; first < places.length; first += batchGetLimit) {
    const part = places.slice(first, first + batchGetLimit);
    const call = readPlaces(dynamo, new Map(part), tries);
    for (const [place] of part) calls.set(place, call);
  }
  return calls;
}

/** Once more than needed: a key that is kept back twice is left to the message's next turn. */
const tries = 2;
