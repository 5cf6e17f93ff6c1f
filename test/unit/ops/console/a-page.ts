import type { Source } from '../../../../ops/console/api-source.ts';
import { documentOf } from '../../../../ops/console/page.ts';
import { answerPage } from '../../../../ops/console/pages/pages.ts';
import type { Language } from '../../../../ops/console/texts.ts';
import { aContext } from './a-source.ts';

/** Asks for a page of a source, or sends its form. Returns what it shows, or where it leads and what it says there. */
export async function ask(
  source: Source,
  path: string,
  given: { form?: string; language?: Language; now?: number } = {},
) {
  const { form, language = 'en', now = Date.UTC(2026, 10, 22, 12) } = given;
  const context = aContext(source, path, language, now);
  const answer = await answerPage(context, form === undefined ? null : new URLSearchParams(form));
  if ('location' in answer) return { ...answer, text: '', document: '' };
  const document = documentOf(answer, context);
  return { location: undefined, note: undefined, document, text: textOf(answer.content.text) };
}

/** Returns what a page answers: another one to go to, or its document. A form is a POST. */
export const answerOf = async (
  path: string,
  source: Source,
  {
    language = 'en',
    form,
    now,
  }: { readonly language?: Language; readonly form?: Record<string, string>; readonly now?: number } = {},
) => {
  const context = aContext(source, path, language, now);
  const answer = await answerPage(context, form ? new URLSearchParams(form) : null);
  return 'location' in answer ? answer : { ...answer, text: documentOf(answer, context) };
};

/** Returns the document that a page answers with. */
export const documentAt = async (...asked: Parameters<typeof answerOf>): Promise<string> => {
  const answer = await answerOf(...asked);
  if ('location' in answer) throw new Error(`It leads to ${answer.location}.`);
  return answer.text;
};

/** Returns what a person reads, in one line. */
export function textOf(markup: string): string {
  const words = markup.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  return words.replace(/&(quot|lt|gt|amp|#39);/g, (_, name: string) => characters[name] ?? '').trim();
}

const characters: Readonly<Record<string, string>> = { quot: '"', lt: '<', gt: '>', amp: '&', '#39': "'" };
