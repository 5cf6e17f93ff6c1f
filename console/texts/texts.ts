import type { DeliveryDetail } from '../../lambdas/delivery/representation.ts';
import { en, type Texts } from './en.ts';
import { pt } from './pt.ts';

export type Language = 'en' | 'pt';

export const texts: Readonly<Record<Language, Texts>> = { en, pt };

export function preferredLanguage(acceptLanguage = ''): Language {
  const codes = acceptLanguage.slice(0, 1_000).toLowerCase().split(',');
  return codes.map(part => part.trim().slice(0, 2)).find(word => word === 'pt' || word === 'en') === 'pt' ? 'pt' : 'en';
}

export function resultOf({ results }: Texts, result: string | null, status: number | null): string {
  if (result === null) return '–';
  return [textOf(results, result === 'entregue' && status ? 'http' : result), status].filter(Boolean).join(' ');
}

export function adviceOf({ advice, statusAdvice }: Texts, attempt: DeliveryDetail['tentativas'][number]) {
  const { resultado, status, detalhe } = attempt;
  if (detalhe !== null) return textOf(advice, detalhe);
  const texts: Readonly<Record<string, string>> = statusAdvice;
  if (resultado !== 'http' || status === null) return texts[resultado];
  return texts[status === 405 ? 404 : status] ?? texts[`${Math.floor(status / 100)}xx`] ?? texts.other;
}

/** Returns the text for an API value. Returns the value itself if a later API release added it. */
export function textOf(table: Readonly<Record<string, string>>, value: string): string {
  return Object.hasOwn(table, value) ? (table[value] ?? value) : value;
}
