import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { html } from '../html.ts';
import type { Answer, Context, Parameters } from '../page.ts';
import { operatorOf } from '../page-parts.ts';
import { NotThere } from '../views.ts';

/** A section of the docs that pages refer to, as it is written: an operator's console runs from the tree that has them. */
export async function docsPage(context: Context, { name = '' }: Parameters): Promise<Answer> {
  operatorOf(context);
  const found = sections.find(
    ([known, language]) => known === name && (language ?? context.language) === context.language,
  );
  if (!found) throw new NotThere(context.texts.notFound);
  const [, , file, heading] = found;
  const text = await readFile(path.join(import.meta.dirname, '../../../docs', file), 'utf8');
  const section = text.split(/^## /m).find(part => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new NotThere(`docs/${file}`);
  return {
    title: heading,
    isLive: false,
    content: html`<h1>${heading}</h1><p class="lead"><code>docs/${file}</code></p><pre class="card inside"${!file.startsWith('pt/') && html` lang="en"`}>${section.slice(heading.length).trim()}</pre>`,
  };
}

const sections = [
  ['publishing', undefined, 'publishing.md', 'What is refused, and how to hear of it'],
  ['receiving', 'en', 'en/receiving.md', 'Verify the signature'],
  ['receiving', 'pt', 'pt/recebimento.md', 'Verificar a assinatura'],
] as const;
