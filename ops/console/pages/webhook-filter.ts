import { type WireState, wireStates } from '../../../lambdas/delivery/representation.ts';
import { isoTime } from '../../../lambdas/platform/clock.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import { type Context, locales, pathOf } from '../page.ts';
import { leftOut } from '../page-parts.ts';
import { textFor } from '../texts.ts';
import { momentOf } from '../views.ts';

/** What of a webhook's deliveries a page is asked for. Times are RFC 3339 in UTC. */
export interface Filter {
  readonly state?: WireState | undefined;
  readonly range?: RangeName | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly cursor?: string | undefined;
  /** The values of the address that are none of these. */
  readonly strange: readonly (readonly [name: string, value: string])[];
}

type RangeName = (typeof rangeNames)[number];

/** A span in steps. Milliseconds since the epoch. */
export interface Steps {
  readonly from: number;
  readonly until: number;
  readonly step: number;
}

/** Reads the filter in an address, or in a form. */
export function filterOf(query: URLSearchParams): Filter {
  const strange: [string, string][] = [];
  const read = <Value>(name: string, parse: (text: string) => Value | undefined): Value | undefined => {
    const text = query.get(name)?.trim();
    if (!text) return undefined;
    const value = parse(text);
    if (value === undefined) strange.push([name, text]);
    return value;
  };
  const state = read('state', text => Object.values(wireStates).find(word => word === text));
  const range = read('range', text => rangeNames.find(name => name === text));
  const [since, until] = [read('since', instantOf), read('until', instantOf)];
  const cursor = query.get('cursor')?.trim() || undefined;
  if (since === undefined || until === undefined || since < until)
    return { state, range, since, until, cursor, strange };
  return { state, range, cursor, strange: [...strange, ['since', since], ['until', until]] };
}

/** Returns the address of a webhook's page with a filter. A page of the list is part of it only where it is given. */
export function addressOf(event: string, filter: Partial<Filter>): string {
  const query = queryOf(filter);
  return query === '' ? pathOf({ event }) : `${pathOf({ event })}?${query}`;
}

/** Returns the query that holds a filter. */
export function queryOf({ state, range, since, until, cursor }: Partial<Filter>): string {
  const values = Object.entries({ state, range, since, until, cursor });
  return new URLSearchParams(
    values.flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : [])),
  ).toString();
}

/** Returns the span that is counted: the range that was chosen, else the times that were, else the last 24 hours. */
export function stepsOf({ range, since, until }: Filter, now: number): Steps {
  if (range !== undefined || (since === undefined && until === undefined)) {
    const { length, step } = ranges[range ?? '24h'];
    const end = floorTo(step, now) + step;
    return { from: end - length, until: end, step };
  }
  const end = until === undefined ? now : Date.parse(until);
  const begin = since === undefined ? end - ranges['24h'].length : Date.parse(since);
  const step = steps.find(one => (end - begin) / one <= mostSteps) ?? Math.ceil((end - begin) / mostSteps);
  const from = floorTo(step, begin);
  return { from, until: from + Math.max(1, Math.ceil((end - from) / step)) * step, step };
}

/** Returns the times of the list: those that were chosen, else those of the range that was. */
export function timesOf(filter: Filter, now: number): Pick<Filter, 'since' | 'until'> {
  const { range, since, until } = filter;
  if (since !== undefined || until !== undefined || range === undefined) return { since, until };
  return { since: isoTime(stepsOf(filter, now).from) };
}

/** Writes the choice of the time: of the chart, and of the list. */
export function timeChips(context: Context, event: string, filter: Filter): Html {
  const { say, folder } = context;
  const { state, range, since, until } = filter;
  const isCustom = range === undefined && (since !== undefined || until !== undefined);
  const field = (name: string, label: string, value: string | undefined) =>
    html`<label>${label}<input type="datetime-local" name="${name}" value="${localField(value)}"></label>`;
  return html`<nav class="chips" aria-label="${say('Time', 'Período')}">${chip(context, event, say('Latest', 'Mais novas'), { state }, !isCustom && range === undefined)}${rangeNames.map(name => chip(context, event, name.replace(/(\d+)/, '$1 '), { state, range: name }, range === name))}<details class="custom"${isCustom && html` open`}><summary class="chip"${isCustom && html` aria-current="true"`}>${say('Custom', 'Outro')}</summary>
<form class="row" method="get" action="${folder}${pathOf({ event })}">${state && html`<input type="hidden" name="state" value="${state}">`}${field('since', say('From', 'De'), since)}${field('until', say('Until', 'Até'), until)}<button>${say('Show', 'Mostrar')}</button></form></details></nav>`;
}

/** Writes the choice of the state, and the time that a bar of the chart stands for, with the way to all again. */
export function stateChips(context: Context, event: string, filter: Filter): Html {
  const { texts, say } = context;
  const { state, range, since, until } = filter;
  const words = [undefined, ...Object.values(wireStates)];
  const clear = html`<time>${spanText(context, momentOf(since), momentOf(until))}</time> ✕<span class="unseen"> ${say('Clear', 'Limpar')}</span>`;
  return html`<nav class="chips" aria-label="${texts.state}">${words.map(word => {
    const name = word === undefined ? say('All', 'Todas') : (textFor(texts, 'word', word) ?? word);
    return chip(context, event, name, { state: word, range, since, until }, state === word, '#list');
  })}${(since ?? until) !== undefined && chip(context, event, clear, { state, range }, true, '#list')}</nav>`;
}

/** Writes a part of the time, in this machine's zone. */
export function spanText({ language, say }: Context, since: number | undefined, until: number | undefined): string {
  const isWhole = [since, until].every(time => (time ?? 0) % minute === 0);
  const format = new Intl.DateTimeFormat(
    locales[language],
    isWhole ? toTheMinute : { ...toTheMinute, second: '2-digit' },
  );
  if (since !== undefined && until !== undefined) return format.formatRange(since, until);
  return since === undefined
    ? `${say('until', 'até')} ${format.format(until)}`
    : `${say('since', 'desde')} ${format.format(since)}`;
}

/** Says which values of the address count for nothing. */
export function strangeValues(context: Context, { strange }: Filter): HtmlValue {
  const [since, until] = ['since', 'until'].map(name => strange.find(([other]) => other === name)?.[1]);
  const isBackwards = since !== undefined && until !== undefined && instantOf(since) !== undefined;
  return html`${leftOut(context, strange)}${isBackwards && html`<p class="note trouble">${context.say('The time must end after it begins.', 'O período deve terminar depois de começar.')}</p>`}`;
}

/** Returns the name of this machine's zone, as `UTC-3`: times are typed and shown in it. */
export function zoneName({ say, now }: Context): string {
  const minutes = -new Date(now).getTimezoneOffset();
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const zone = minutes === 0 ? 'UTC' : `UTC${minutes < 0 ? '-' : '+'}${hours}${rest > 0 ? `:${rest}` : ''}`;
  return say(`local time, ${zone}`, `hora local, ${zone}`);
}

function chip(
  { folder }: Context,
  event: string,
  name: HtmlValue,
  filter: Partial<Filter>,
  isChosen: boolean,
  fragment = '',
) {
  return html`<a class="chip"${isChosen && html` aria-current="true"`} href="${folder}${addressOf(event, filter)}${fragment}">${name}</a>`;
}

const toTheMinute = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;

const [minute, hour] = [60_000, 3_600_000];

const rangeNames = ['1h', '24h', '7d', '30d'] as const;

const ranges: Readonly<Record<RangeName, { readonly length: number; readonly step: number }>> = {
  '1h': { length: hour, step: minute },
  '24h': { length: 24 * hour, step: hour / 2 },
  '7d': { length: 7 * 24 * hour, step: 4 * hour },
  '30d': { length: 30 * 24 * hour, step: 12 * hour },
};

const steps = [
  ...[1_000, 2_000, 5_000, 10_000, 30_000, minute, 2 * minute, 5 * minute, 10 * minute, hour / 4, hour / 2],
  ...[hour, 2 * hour, 4 * hour, 12 * hour, 24 * hour],
];

/** The most steps of a span. */
const mostSteps = 50;

/** Returns the last beginning of a step: as this machine's clock shows it. */
function floorTo(step: number, time: number): number {
  const zone = -new Date(time).getTimezoneOffset() * minute;
  return Math.floor((time + zone) / step) * step - zone;
}

/** Returns RFC 3339 of a time: what a browser's field sends has no zone, and is this machine's. */
function instantOf(typed: string): string | undefined {
  const [, day = '', time = 'T00:00', zone = ''] = timePattern.exec(typed.replace(' ', 'T')) ?? [];
  const at = Date.parse(`${day}${time}${zone}`);
  const isDay = isoTime(Date.parse(`${day}T00:00Z`) || 0).startsWith(day);
  return Number.isNaN(at) || !isDay ? undefined : isoTime(at);
}

const timePattern = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?(Z|[+-]\d\d:\d\d)?$/;

/** Returns a time as a browser's field has it. */
function localField(time: string | undefined): string {
  if (time === undefined) return '';
  const at = Date.parse(time);
  return isoTime(at - new Date(at).getTimezoneOffset() * minute).slice(0, 16);
}
