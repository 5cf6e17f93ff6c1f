import { fillIn, type Values } from '../platform/text-template.ts';

/** A language that {base_url} answers refusals in: English, or the Portuguese of Brazil. */
export type Language = keyof typeof contentLanguages;

/** A text for people, in each language. */
export type Texts = Readonly<Record<Language, string>>;

/**
 * The value of `Content-Language` (RFC 9110 section 8.5). It names the texts, not the request: a request for `pt` or `pt-PT` gets
 * the texts of Brazil too, and its answer says so.
 */
export const contentLanguages = { en: 'en', pt: 'pt-BR' } as const;

/**
 * The language that a request prefers by its `Accept-Language` (RFC 9110 section 12.5.4): Portuguese where any Portuguese weighs
 * more than any English, otherwise English. `*` stands for the languages that are not named. Malformed parts count as absent,
 * as does what is beyond the first 1,024 characters. No text is refused: the language of an error is no reason for another one.
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

/** Puts the same values into the places of a text in each language. */
export function fillInBoth({ en, pt }: Texts, values: Values): Texts {
  return { en: fillIn(en, values), pt: fillIn(pt, values) };
}

const maximumLength = 1_024;

/** A basic language range (RFC 4647 section 2.1), which begins with the language, and its weight. */
const weightedRange =
  /^[ \t]*(?<range>\*|[a-z]{1,8}(?:-[a-z0-9]{1,8})*)(?:[ \t]*;[ \t]*q=(?<weight>0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?[ \t]*$/i;
