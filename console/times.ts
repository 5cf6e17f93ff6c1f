export function distance(milliseconds: number, format: Intl.RelativeTimeFormat): string {
  const seconds = Math.round(milliseconds / 1_000);
  const [length, unit] = units.find(([, , max]) => Math.abs(seconds) < max) ?? [86_400, 'day'];
  return format.format(Math.round(seconds / length) || -0, unit);
}

const units = [
  [1, 'second', 90],
  [60, 'minute', 90 * 60],
  [3_600, 'hour', 36 * 3_600],
] as const;

export const timeFormats = { en: formatsOf('en-US', 'short'), pt: formatsOf('pt-BR', '2-digit') };

function formatsOf(locale: string, month: 'short' | '2-digit') {
  const exact = { day: 'numeric', month, year: 'numeric' } as const;
  const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  return {
    exact: new Intl.DateTimeFormat(locale, { ...exact, ...clock }),
    minute: new Intl.DateTimeFormat(locale, { ...clock, day: 'numeric', month, second: undefined }),
    clock: new Intl.DateTimeFormat(locale, { ...clock, timeZoneName: 'short' }),
    distance: new Intl.RelativeTimeFormat(locale, { style: 'short' }),
  };
}
