import { fillIn, type Values } from '../platform/text-template.ts';

/** A language that {base_url} answers refusals in: English, or the Portuguese of Brazil. */
export type Language = 'en' | 'pt';

/** A text for people, in each language. */
export type Texts = Readonly<Record<Language, string>>;

/** Puts the same values into the places of a text in each language. */
export function fillInBoth({ en, pt }: Texts, values: Values): Texts {
  return { en: fillIn(en, values), pt: fillIn(pt, values) };
}
