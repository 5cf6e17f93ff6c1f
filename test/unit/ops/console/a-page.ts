import { documentOf } from '../../../../ops/console/page.ts';
import { answerPage } from '../../../../ops/console/pages/pages.ts';
import type { Source } from '../../../../ops/console/source.ts';
import { type Language, sayingIn, textsOf } from '../../../../ops/console/texts.ts';

/** Asks for a page of a source, or sends its form. Returns what it shows, or where it leads and what it says there. */
export async function ask(
  source: Source,
  path: string,
  given: { form?: string; language?: Language; now?: number } = {},
) {
  const { form, language = 'en', now = Date.UTC(2026, 10, 22, 12) } = given;
  const query = new URL(path, 'http://127.0.0.1').searchParams;
  const [texts, say] = [textsOf(language), sayingIn(language)];
  const context = { source, language, texts, say, folder: '/x', path, query, now };
  const answer = await answerPage(context, form === undefined ? null : new URLSearchParams(form));
  if ('location' in answer) return { ...answer, text: '', document: '' };
  const document = documentOf(answer, context);
  return { location: undefined, note: undefined, document, text: textOf(answer.content.text) };
}

/** Returns what a person reads, in one line. */
function textOf(markup: string): string {
  const words = markup.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  return words.replace(/&(quot|lt|gt|amp|#39);/g, (_, name: string) => characters[name] ?? '').trim();
}

const characters: Readonly<Record<string, string>> = { quot: '"', lt: '<', gt: '>', amp: '&', '#39': "'" };
