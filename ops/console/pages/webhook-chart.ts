import { isoTime } from '../../../lambdas/platform/clock.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import { type Context, exactTimeOf, locales, number } from '../page.ts';
import { failureOf, unreadPart } from '../page-parts.ts';
import type { Tally, TallyGroup } from '../views.ts';
import { type Filter, queryOf, type Steps, spanText, timeChips, zoneName } from './webhook-filter.ts';

/** Writes the deliveries of a webhook over time: bars that lead to their deliveries, and the same numbers in a table. */
export function tallyCard(
  context: Context,
  event: string,
  {
    filter,
    steps,
    tally,
    why,
  }: {
    readonly filter: Filter;
    readonly steps: Steps;
    readonly tally: Tally | undefined;
    /** Why it could not be counted. */
    readonly why: HtmlValue;
  },
): Html {
  const { say } = context;
  const { range, since, until } = filter;
  const isCustom = range === undefined && (since !== undefined || until !== undefined);
  const heading = isCustom
    ? say('Deliveries in the time chosen', 'Entregas no período escolhido')
    : `${context.texts.deliveries} ${lastOf(context, range ?? '24h')}`;
  const bars = tally ? barsOf(context, { filter, steps, tally }) : [];
  const isEmpty = bars.every(({ sum }) => sum === 0);
  return html`<section class="card" id="chart"><header><h2>${heading}</h2>${timeChips(context, event, filter)}</header>
<div id="tally" data-live>${tally ? html`<div class="inside">${legend(context, bars, tally)}${isEmpty ? html`<p class="empty">${say('Nothing was accepted in this time.', 'Nada foi aceito neste período.')}</p>` : drawing(context, bars, steps)}</div>${!isEmpty && numbers(context, bars)}` : html`<div class="inside">${unreadPart(context, why ?? '–')}</div>`}</div></section>`;
}

function lastOf({ say }: Context, range: NonNullable<Filter['range']>): string {
  return {
    '1h': say('in the last hour', 'na última hora'),
    '24h': say('in the last 24 hours', 'nas últimas 24 horas'),
    '7d': say('in the last 7 days', 'nos últimos 7 dias'),
    '30d': say('in the last 30 days', 'nos últimos 30 dias'),
  }[range];
}

interface Bar {
  readonly begin: number;
  readonly counts: Readonly<Record<TallyGroup, number>>;
  readonly sum: number;
  /** False where it was not counted. */
  readonly isKnown: boolean;
  /** True where the list is narrowed to it. */
  readonly isChosen: boolean;
  readonly address: string;
  readonly time: string;
}

function barsOf(
  context: Context,
  { filter, steps, tally }: { readonly filter: Filter; readonly steps: Steps; readonly tally: Tally },
): readonly Bar[] {
  const { from, step } = steps;
  const { state, range, since, until } = filter;
  const span = until === undefined && since === undefined ? undefined : [since ?? '', until ?? '~'];
  return tally.counts.delivered.map((delivered, at) => {
    const counts = { delivered, failed: tally.counts.failed[at] ?? 0, open: tally.counts.open[at] ?? 0 };
    const begin = from + at * step;
    const { reached = begin } = tally;
    const isKnown = begin + step > reached;
    // Of the bar in which the count ends only the latter part was counted.
    const counted = isKnown ? Math.max(begin, reached) : begin;
    const [first, end] = [isoTime(counted), isoTime(begin + step)];
    return {
      begin,
      counts,
      sum: counts.delivered + counts.failed + counts.open,
      isKnown,
      isChosen: range !== undefined && span !== undefined && first >= (span[0] ?? '') && end <= (span[1] ?? ''),
      // Its range stays, so that the chart does: a bar narrows the list alone.
      address: `?${queryOf({ state, range: range ?? rangeOf(filter), since: brief(first), until: brief(end) })}#list`,
      time: spanText(context, counted, begin + step),
    };
  });
}

/** Leaves out seconds that are none: a page has many such addresses. */
function brief(time: string): string {
  return time.replace(/:00\.000Z$/, 'Z');
}

/** Returns the range that the chart keeps when a bar is clicked: none where the times were chosen. */
function rangeOf({ since, until }: Filter): Filter['range'] {
  return since === undefined && until === undefined ? '24h' : undefined;
}

function legend(context: Context, bars: readonly Bar[], { reached, unread }: Tally): Html {
  const { say } = context;
  const sums = groups.map(group => [group, bars.reduce((sum, { counts }) => sum + counts[group], 0)] as const);
  const all = sums.reduce((sum, [, count]) => sum + count, 0);
  return html`<p class="legend">${sums.map(([group, count]) => html`<span><svg class="swatch" aria-hidden="true"><rect class="${marks[group]}" width="100%" height="100%"/></svg>${groupName(context, group)} <b>${number(context, count)}</b></span> `)}
<small>${zoneName(context)}</small></p>${
    reached !== undefined &&
    html`<p class="note">${say('Counted were the latest', 'Foram contadas as últimas')} <b>${number(context, all)}</b> ${say('since', 'desde')} ${exactTimeOf(isoTime(reached), context)}: ${unread === undefined ? say('a page counts no further back.', 'uma página não conta mais que isso.') : html`${say('what came before could not be read', 'o que veio antes não pôde ser lido')}: ${failureOf(unread).message}`}</p>`
  }`;
}

/** Draws the bars. Its parts are placed by shares of the width, so that text keeps its size on every screen. */
function drawing(context: Context, bars: readonly Bar[], { from, until, step }: Steps): Html {
  const top = niceAbove(Math.max(1, ...bars.map(({ sum }) => sum)));
  const width = 100 / bars.length;
  const place = (at: number) => `${(at * width).toFixed(2)}%`;
  const lines = [top, ...(top % 2 === 0 ? [top / 2] : [])].map(line => ({ line, y: heightOf(line, top) }));
  const isBrief = until - from <= 36 * hour;
  const every = labelEvery(bars.length, step, isBrief ? 0 : wholeDay);
  const zone = -new Date(from).getTimezoneOffset() * minute;
  const labelled = bars
    .map((bar, at) => [bar, at] as const)
    .filter(([{ begin }]) => Math.round((begin + zone) / step) % every === 0);
  return html`<svg class="chart" aria-hidden="true">${lines.map(({ line, y }) => html`<line class="grid" x2="100%" y1="${y}" y2="${y}"/><text x="-8" y="${y + 4}" text-anchor="end">${compact(context, line)}</text>`)}
${bars.map((bar, at) => drawnBar(context, bar, { x: place(at), width: `${width.toFixed(2)}%`, top }))}
<line class="axis" x2="100%" y1="${foot}" y2="${foot}"/>${labelled.map(([bar, at], number) => html`<text${number % 2 === 1 && html` class="odd"`} x="${place(at)}" y="${foot + 16}" text-anchor="${at > bars.length * 0.95 ? 'end' : 'middle'}">${labelOf(context, bar.begin, isBrief)}</text>`)}</svg>`;
}

interface Place {
  readonly x: string;
  readonly width: string;
  /** The number that the whole height stands for. */
  readonly top: number;
}

function drawnBar(context: Context, { counts, sum, isKnown, isChosen, address, time }: Bar, place: Place): Html {
  const { x, width, top } = place;
  const ground = isChosen ? 'chosen' : isKnown ? 'hit' : 'unknown';
  const hit = html`<rect class="${ground}" width="100%" height="${foot}"/>`;
  const bar = (title: string, parts: HtmlValue) =>
    html`<svg x="${x}" width="${width}"><title>${title}</title>${hit}${parts}</svg>`;
  if (!isKnown) return bar(`${time}: ${context.say('not counted', 'não contadas')}`, null);
  const present = groups.filter(group => counts[group] > 0);
  let y = foot;
  const parts = present.map(group => {
    // What is there is seen, however little it is beside the rest.
    const height = Math.max(2, Math.round(foot - heightOf(counts[group], top)));
    y -= height;
    return html`<rect class="${marks[group]}" y="${y}" width="80%" height="${height - 1}"/>`;
  });
  const said = present.map(group => `${groupName(context, group)}: ${counts[group]}`);
  return html`<a href="${address}" tabindex="-1">${bar([`${time}${sum === 0 ? ': 0' : ''}`, ...said].join('\n'), parts)}</a>`;
}

/** Writes the numbers of the bars, for who does not see them, or does not point. It is brief: a page has many of its rows. */
function numbers(context: Context, bars: readonly Bar[]): Html {
  const { say } = context;
  const rows = bars.filter(({ sum }) => sum > 0).toReversed();
  const content = html`<table class="plain"><thead><tr><th scope="col">${say('Accepted', 'Aceitas')}</th>${groups.map(group => html`<th scope="col" class="number">${groupName(context, group)}</th>`)}</tr></thead>
<tbody>${rows.map(({ address, time, counts }) => html`<tr><td><a href="${address}"><time>${time}</time></a>${groups.map(group => html`<td class="number">${number(context, counts[group])}`)}`)}</tbody></table>`;
  return html`<details class="inside numbers"><summary>${say('These numbers as a table', 'Estes números em tabela')}</summary>${content}</details>`;
}

function groupName({ say }: Context, group: TallyGroup): string {
  return {
    delivered: say('Delivered', 'Entregues'),
    failed: say('Failed', 'Falharam'),
    open: say('Waiting, held or cancelled', 'Pendentes, retidas ou canceladas'),
  }[group];
}

/** In the order in which they are stacked. */
const groups = ['delivered', 'open', 'failed'] as const;

/** The classes that colour them. */
const marks: Readonly<Record<TallyGroup, string>> = { delivered: 'entregue', failed: 'falhou', open: 'pendente' };

/** The axis of times and the height of the highest bar, from the top, in pixels. */
const [foot, head] = [150, 10];

function heightOf(count: number, top: number): number {
  return Math.round((foot - ((foot - head) * count) / top) * 10) / 10;
}

/** Returns the least of 1, 2 and 5 times a power of ten that is no less. */
function niceAbove(count: number): number {
  const power = 10 ** Math.floor(Math.log10(count));
  return ([1, 2, 5].find(one => one * power >= count) ?? 10) * power;
}

/** Returns how many steps lie between two labels: at most seven, of which a phone shows every other, at round times. */
function labelEvery(bars: number, step: number, least: number): number {
  const round = roundTimes.filter(time => time >= least).map(time => time / step);
  return round.find(every => Number.isInteger(every) && bars / every <= 7) ?? bars;
}

const [minute, hour, wholeDay] = [60_000, 3_600_000, 86_400_000];

const roundTimes = [
  ...[10_000, minute, 10 * minute, hour, 2 * hour, 4 * hour, 12 * hour],
  ...[wholeDay, 2 * wholeDay, 5 * wholeDay, 10 * wholeDay, 30 * wholeDay],
];

function labelOf({ language }: Context, time: number, isBrief: boolean): string {
  const locale = locales[language];
  if (isBrief)
    return new Date(time).toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  // Where the clock is put forward in between, what was midnight is an hour early.
  const day = new Date(time + 2 * hour).toLocaleDateString(locale, { day: 'numeric', month: 'short' });
  return day.replace(' de ', ' ').replace('.', '');
}

function compact({ language }: Context, count: number): string {
  return count.toLocaleString(locales[language], { notation: 'compact' });
}
