import { Link, LoadError, Time } from './components.tsx';
import type { Bar, Counts } from './count-deliveries.ts';
import { datetimeLocalValue, type Filter, queryOf, ranges, states } from './filter.ts';
import { timeFormats } from './times.ts';
import { type Part, pathOf, useView } from './view.ts';

export function Chart({ event, filter, counted }: { event: string; filter: Filter; counted: Part<Counts> }) {
  const { t } = useView();
  return (
    <section class="card">
      <header>
        <h2>{t.webhook.volume}</h2>
        <RangeChoice event={event} filter={filter} />
      </header>
      <div id="chart" data-live class="inside">
        {'error' in counted ? (
          <LoadError error={counted.error} />
        ) : (
          <Volume event={event} filter={filter} {...counted.value} />
        )}
      </div>
    </section>
  );
}

function RangeChoice({ event, filter }: { event: string; filter: Filter }) {
  const { t, folder } = useView();
  const { state, range, since, until } = filter;
  const isCustom = range === undefined && (since !== undefined || until !== undefined);
  const chosen = isCustom ? undefined : (range ?? '30d');
  const field = (name: string, label: string, value: number | undefined) => (
    <label>
      {label} ({Intl.DateTimeFormat().resolvedOptions().timeZone})
      <input type="datetime-local" name={name} value={datetimeLocalValue(value)} />
    </label>
  );
  return (
    <nav class="chips" aria-label={t.webhook.volume}>
      {ranges.map(one => (
        <Link to={pathOf(event) + queryOf({ state, range: one })} kind="chip" isChosen={one === chosen}>
          {t.webhook.ranges[one]}
        </Link>
      ))}
      <details open={isCustom}>
        <summary class="chip">{t.webhook.custom}</summary>
        <form class="row" method="get" action={folder + pathOf(event)}>
          {state && <input type="hidden" name="state" value={state} />}
          {field('since', t.webhook.from, since)}
          {field('until', t.webhook.until, until)}
          <button>{t.webhook.show}</button>
        </form>
      </details>
    </nav>
  );
}

function Volume({ event, filter, bars, total, countedSince, error }: Counts & { event: string; filter: Filter }) {
  const { t, folder } = useView();
  return (
    <>
      <p class="legend">
        <b>{t.webhook.total(total)}</b>
        {states.map(one => {
          const count = bars.reduce((sum, { counts }) => sum + (counts[one] ?? 0), 0);
          return (
            count > 0 && (
              <a class={`key ${one}`} href={`${folder}${pathOf(event)}${queryOf({ ...filter, state: one })}#list`}>
                {t.states[one]}: {t.number(count)}
              </a>
            )
          );
        })}
      </p>
      {countedSince !== undefined && (
        <p class="muted">
          {t.webhook.cutOff} <Time at={new Date(countedSince).toISOString()} form="exact" />.
        </p>
      )}
      {error !== undefined && <LoadError error={error} />}
      {total === 0 ? <p class="empty">{t.webhook.noneInTime}</p> : <Bars event={event} filter={filter} bars={bars} />}
    </>
  );
}

function Bars({ event, filter, bars }: { event: string; filter: Filter; bars: readonly Bar[] }) {
  const { t, folder, language, now } = useView();
  const max = Math.max(...bars.map(sumOf));
  const format = timeFormats[language].minute;
  const [first, last] = [bars[0], bars.at(-1)];
  return (
    <>
      <p class="peak">{t.number(max)}</p>
      <svg class="bars" viewBox={`0 0 ${bars.length * 10} 100`} preserveAspectRatio="none" aria-hidden="true">
        <line class="grid" x1="0" y1="0.5" x2={bars.length * 10} y2="0.5" />
        <line class="grid" x1="0" y1="50" x2={bars.length * 10} y2="50" />
        {bars.map((bar, at) => {
          let y = 100;
          const link = folder + addressOf(event, filter, bar);
          return (
            <a href={link} tabindex={-1}>
              <title>{`${format.formatRange(bar.from, bar.until)}: ${sumOf(bar)}`}</title>
              <rect class={bar.isCounted ? 'zone' : 'zone uncounted'} x={at * 10} y="0" width="10" height="100" />
              {states.map(state => {
                const height = ((bar.counts[state] ?? 0) / max) * 100;
                y -= height;
                return height > 0 && <rect class={state} x={at * 10 + 1} y={y} width="8" height={height} />;
              })}
            </a>
          );
        })}
      </svg>
      <p class="axis">
        <span>{first && format.format(first.from)}</span>
        <span>{last && format.format(Math.min(last.until, now))}</span>
      </p>
    </>
  );
}

function addressOf(event: string, { state, range, since, until }: Filter, bar: Bar): string {
  const current = range ?? (since === undefined && until === undefined ? ('30d' as const) : undefined);
  return `${pathOf(event)}${queryOf({ state, range: current, since: bar.from, until: bar.until })}#list`;
}

function sumOf({ counts }: Bar): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
