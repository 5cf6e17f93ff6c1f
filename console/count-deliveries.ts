import type { Api } from './api.ts';
import type { Span, State } from './filter.ts';

export interface Bar {
  readonly from: number;
  readonly until: number;
  readonly counts: Partial<Record<State, number>>;
  isCounted: boolean;
}

export interface Counts {
  readonly bars: readonly Bar[];
  readonly total: number;
  readonly countedSince?: number;
  readonly error?: unknown;
}

/** Counts a webhook's deliveries in a time span. Reads at most 24 pages of 100 deliveries. @throws if the first call fails. */
export async function countDeliveries(api: Api, event: string, { desde, ate, from, until, step }: Span) {
  const bars = Array.from({ length: Math.round((until - from) / step) }, (_, at): Bar => {
    const start = from + at * step;
    return { from: start, until: start + step, counts: {}, isCounted: true };
  });
  let total = 0;
  const end = await readPages(api, event, { desde, ate }, 24, ({ estado, criado_em }) => {
    const bar = bars[Math.floor((Date.parse(criado_em) - from) / step)];
    if (!bar) return;
    total += 1;
    bar.counts[estado] = (bar.counts[estado] ?? 0) + 1;
  });
  for (const bar of bars) bar.isCounted = end.countedSince === undefined || bar.until > end.countedSince;
  return { bars, total, ...end };
}

export async function countReplayable(api: Api, event: string, range: { desde: string; ate: string; estado: string }) {
  let count = 0;
  const end = await readPages(api, event, range, 8, ({ id }) => {
    if (!isTest(id)) count += 1;
  });
  return { count, isAll: end.countedSince === undefined };
}

export type ReplayCount = Awaited<ReturnType<typeof countReplayable>>;

export function isTest(id: string): boolean {
  return id.startsWith('teste_');
}

async function readPages(
  api: Api,
  event: string,
  query: { readonly desde: string; readonly ate: string; readonly estado?: string },
  maxCalls: number,
  count: (record: Awaited<ReturnType<Api['listDeliveries']>>['entregas'][number]) => void,
): Promise<Pick<Counts, 'countedSince' | 'error'>> {
  let cursor: string | undefined;
  let countedSince = Date.parse(query.ate);
  for (let call = 0; call < maxCalls; call++) {
    try {
      const { entregas, proximo_cursor } = await api.listDeliveries(event, { ...query, cursor, limite: 100 });
      for (const record of entregas) count(record);
      if (proximo_cursor === null) return {};
      cursor = proximo_cursor;
      countedSince = Date.parse(entregas.at(-1)?.criado_em ?? '') || countedSince;
    } catch (error) {
      if (call === 0) throw error;
      return { countedSince, error };
    }
  }
  return { countedSince };
}
