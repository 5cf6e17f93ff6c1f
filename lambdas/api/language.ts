import { fillIn, type Values } from '../platform/text-template.ts';

/** A language for {base_url} errors. */
export type Language = keyof typeof contentLanguages;

/** A message in each language. */
export type Texts = Readonly<Record<Language, string>>;

/**
 * The values of `Content-Language` (RFC 9110 section 8.5), which describe the response. A request for `pt` or `pt-PT` therefore also
 * receives `pt-BR`.
 */
export const contentLanguages = { en: 'en', pt: 'pt-BR' } as const;

/**
 * Returns Portuguese if its highest weight in `Accept-Language` exceeds that of English, otherwise English (RFC 9110 section 12.5.4). `*`
 * matches the languages that are not listed. Ignores malformed parts and text after the first 1,024 characters, because the language of an
 * error must not cause another error.
 */
export function preferredLanguage(acceptLanguage = ''): Language {
  const weights = new Map<string, number>();
  for (const part of acceptLanguage.slice(0, maximumLength).split(',')) {
    const { range, weight = '1' } = weightedRange.exec(part)?.groups ?? {};
    if (range === undefined) continue;
    const [language = ''] = range.toLowerCase().split('-');
    weights.set(language, Math.max(Number(weight), weights.get(language) ?? 0));
  }
  const weightOf = (language: Language) => weights.get(language) ?? weights.get('*') ?? 0;
  return weightOf('pt') > weightOf('en') ? 'pt' : 'en';
}

/** Replaces the placeholders in the messages of both languages. */
export function fillInBoth({ en, pt }: Texts, values: Values): Texts {
  return { en: fillIn(en, values), pt: fillIn(pt, values) };
}

const maximumLength = 1_024;

/** Matches a basic language range (RFC 4647 section 2.1) and its weight. */
const weightedRange =
  /^[ \t]*(?<range>\*|[a-z]{1,8}(?:-[a-z0-9]{1,8})*)(?:[ \t]*;[ \t]*q=(?<weight>0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?[ \t]*$/i;
