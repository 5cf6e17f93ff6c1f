import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Context } from '../../../../ops/console/page.ts';
import { aContext, aSource } from './a-source.ts';

let page: typeof import('../../../../ops/console/page.ts');
beforeAll(async () => {
  vi.stubEnv('TZ', 'America/Sao_Paulo');
  vi.resetModules();
  page = await import('../../../../ops/console/page.ts');
});
afterAll(() => {
  vi.unstubAllEnvs();
});

const at = '2026-11-22T02:30:05.123Z';
const contextAt = (language: 'pt' | 'en', now: string): Context => ({
  ...aContext(aSource(), '/', language),
  now: Date.parse(now),
});
const written = (value: unknown) => (value as { text: string }).text;

describe('a time', () => {
  it.each([
    ['en', 'Nov 21, 2026, 23:30:05'],
    ['pt', '21 de nov. de 2026, 23:30:05'],
  ] as const)('is local, in the order of the language, with UTC on hover: %s', (language, shown) => {
    expect(written(page.exactTimeOf(at, contextAt(language, at)))).toBe(
      `<time datetime="${at}" title="2026-11-22 02:30:05 UTC">${shown}</time>`,
    );
  });

  it.each([
    ['2026-11-22T02:30:50Z', '45 sec. ago', 'há 45 seg.'],
    ['2026-11-22T02:50:05Z', '20 min. ago', 'há 20 min.'],
    ['2026-11-22T14:30:05Z', '12 hr. ago', 'há 12 h'],
    ['2026-11-26T02:30:05Z', '4 days ago', 'há 4 dias'],
    ['2026-11-22T02:25:05Z', 'in 5 min.', 'em 5 min.'],
  ])('says at %s how long ago it was', (now, english, portuguese) => {
    expect(written(page.timeOf(at, contextAt('en', now)))).toContain(`>${english} <small>Nov 21`);
    expect(written(page.timeOf(at, contextAt('pt', now)))).toContain(`>${portuguese} <small>21 de nov.`);
  });

  it('of a page names its zone', () => {
    const { documentOf } = page;
    expect(documentOf({ title: 'x', content: page.card('a', 'b') }, contextAt('en', at))).toContain('>23:30:05 GMT-3<');
  });

  it.each([null, undefined, ''])('that there is not is a dash: %j', none => {
    expect(page.timeOf(none, contextAt('en', at))).toBe('–');
  });

  it('that a later release writes otherwise is shown as it is', () => {
    expect(page.timeOf('amanhã', contextAt('en', at))).toBe('amanhã');
  });
});
