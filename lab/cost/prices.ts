import { readFileSync } from 'node:fs';

/** A thing that AWS has a price for. */
export type Priced = keyof PriceFile['sources'];

/** Quantities of what AWS has prices for. */
export type Quantities = Readonly<Partial<Record<Priced, number>>>;

/** A Region whose prices are in the file. */
export type PricedRegion = keyof PriceFile['regions'];

/** The Regions of the price file. */
export const pricedRegions: readonly PricedRegion[] = ['us-east-1', 'sa-east-1'];

export const priceFile: PriceFile = JSON.parse(readFileSync(new URL('prices.json', import.meta.url), 'utf8'));

/** Returns what each quantity costs, in dollars. */
export function costsOf(quantities: Quantities, prices: Prices): Readonly<Partial<Record<Priced, number>>> {
  return Object.fromEntries(
    Object.entries(quantities).map(([priced, quantity]) => [priced, quantity * prices[priced as Priced]]),
  );
}

/** Returns what all quantities cost together, in dollars. */
export function costOf(quantities: Quantities, prices: Prices): number {
  return Object.values(costsOf(quantities, prices)).reduce((sum, dollars) => sum + dollars, 0);
}

/**
 * Returns what each of some quantities costs in an account that has nothing else in it: what AWS gives every account is taken off, of
 * the first quantities first.
 */
export function costsAlone(all: readonly Quantities[], prices: Prices): readonly number[] {
  const free = new Map(Object.entries(priceFile.free.quantities));
  return all.map(quantities => {
    const paid = Object.entries(quantities).map(([priced, quantity]) => {
      const given = Math.min(quantity, free.get(priced) ?? 0);
      free.set(priced, (free.get(priced) ?? 0) - given);
      return [priced, quantity - given];
    });
    return costOf(Object.fromEntries(paid), prices);
  });
}

/** Prices in dollars: of one request, unit, GB, GB-second, or month. */
export type Prices = Readonly<Record<Priced, number>>;

interface PriceFile {
  /** The day on which the prices were looked up. */
  readonly date: string;
  readonly note: string;
  /** The Regions whose prices no source confirms. */
  readonly unconfirmed: readonly string[];
  readonly sources: Readonly<
    Record<
      | 'writeUnit'
      | 'readUnit'
      | 'queueRequest'
      | 'fairQueueRequest'
      | 'keyRequest'
      | 'invocation'
      | 'gigabyteSecond'
      | 'apiRequest'
      | 'logGigabyte'
      | 'logStorageGigabyte'
      | 'alarm'
      | 'metric'
      | 'dashboard'
      | 'key',
      string
    >
  >;
  readonly free: { readonly source: string; readonly quantities: Quantities };
  readonly regions: Readonly<Record<'us-east-1' | 'sa-east-1', Prices>>;
}
