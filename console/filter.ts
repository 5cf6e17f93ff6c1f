/** A filter for deliveries. Times and durations in this file are in milliseconds. */
export interface Filter {
  readonly state?: State | undefined;
  readonly range?: (typeof ranges)[number] | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly cursor?: string | undefined;
  readonly invalid: readonly string[];
}

export const ranges = ['1h', '24h', '7d', '30d'] as const;

export const states = ['entregue', 'falhou', 'retida', 'pendente', 'cancelada'] as const;

export type State = (typeof states)[number];

export interface Span {
  readonly desde: string;
  readonly ate: string;
  readonly from: number;
  readonly until: number;
  readonly step: number;
}

export function filterOf(values: URLSearchParams): Filter {
  const invalid: string[] = [];
  const state = read('state', text => states.find(state => state === text));
  const range = read('range', text => ranges.find(range => range === text));
  const [since, until] = [read('since', parseTime), read('until', parseTime)];
  const cursor = read('cursor', text => text);
  if (since === undefined || until === undefined || since < until)
    return { state, range, since, until, cursor, invalid };
  invalid.push(`since=${values.get('since')}`, `until=${values.get('until')}`);
  return { state, range, cursor, invalid };

  function read<Value>(name: string, parse: (text: string) => Value | undefined): Value | undefined {
    const text = values.get(name)?.trim();
    const value = text ? parse(text) : undefined;
    if (text && value === undefined) invalid.push(`${name}=${text}`);
    return value;
  }
}

export function queryOf({ state, range, since, until, cursor }: Partial<Filter>): string {
  const times = { since: since && iso(since), until: until && iso(until) };
  const parameters = Object.entries({ state, range, ...times, cursor });
  const query = new URLSearchParams(
    parameters.flatMap(([name, value]): [string, string][] => (value ? [[name, String(value)]] : [])),
  );
  return query.size > 0 ? `?${query}` : '';
}

export function spanOf({ range, since, until }: Filter, now: number): Span {
  const isCustom = range === undefined && (since !== undefined || until !== undefined);
  const [length, step] = lengths[range ?? '30d'];
  if (!isCustom) return inSteps(now - length, now + 1, step);
  const end = until ?? now;
  const start = since ?? end - length;
  return inSteps(start, end, Math.max(60_000, Math.ceil((end - start) / 48 / 60_000) * 60_000));
}

export function timesOf({ range, since, until }: Filter, now: number): { desde?: string; ate?: string } {
  if (since !== undefined || until !== undefined)
    return { ...(since !== undefined && { desde: iso(since) }), ...(until !== undefined && { ate: iso(until) }) };
  return range === undefined ? {} : { desde: iso(now - lengths[range][0]) };
}

export function iso(time: number): string {
  return new Date(time).toISOString();
}

export function datetimeLocalValue(time: number | undefined): string {
  if (time === undefined) return '';
  return iso(time - new Date(time).getTimezoneOffset() * 60_000).slice(0, 16);
}

const [minute, hour] = [60_000, 3_600_000];

const lengths: Readonly<Record<(typeof ranges)[number], readonly [length: number, step: number]>> = {
  '1h': [hour, minute],
  '24h': [24 * hour, hour / 2],
  '7d': [7 * 24 * hour, 4 * hour],
  '30d': [30 * 24 * hour, 12 * hour],
};

/** Parses an RFC 3339 time, or the value of a `datetime-local` field, which is in local time. */
function parseTime(text: string): number | undefined {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function inSteps(from: number, until: number, step: number): Span {
  const zone = new Date(from).getTimezoneOffset() * minute;
  const start = Math.floor((from - zone) / step) * step + zone;
  const end = start + Math.ceil((until - start) / step) * step;
  return { desde: iso(from), ate: iso(until), from: start, until: end, step };
}
