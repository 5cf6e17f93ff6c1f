import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Writes an OpenAPI document for people, and returns where it lies: its refusals name their codes, with links to the catalogue of
 * errors, and leave out what each of them repeats. Programs read the whole document.
 */
export function referenceOf(name: string, base: string): string {
  const read = (file: string) => readFileSync(path.join('../docs', file), 'utf8');
  const codes = new Set([...read('en/errors.md').matchAll(/^### (\w+)$/gm)].map(([, code]) => code));
  const document = JSON.parse(read(`api/${name}.openapi.json`)) as Document;
  const withLinks = (text: string) =>
    text.replaceAll(/`(\w+)`/g, (quoted, code) =>
      codes.has(code) ? `[${quoted}](${base}en/errors/#${code})` : quoted,
    );
  const short = (status: string, { description, ...response }: Response) =>
    /^[45]/.test(status) ? { description: withLinks(description ?? '') } : { description, ...response };
  for (const method of Object.values(document.paths).flatMap(Object.values<Operation>))
    for (const [status, response] of Object.entries(method.responses ?? {})) {
      const shared = document.components.responses?.[response.$ref?.split('/').at(-1) ?? ''];
      if (method.responses) method.responses[status] = short(status, shared ?? response);
    }
  const file = path.join('.astro', `${name}.openapi.json`);
  mkdirSync('.astro', { recursive: true });
  writeFileSync(file, JSON.stringify(document));
  return file;
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly responses?: Record<string, Response> };
}

interface Operation {
  readonly responses?: Record<string, Response>;
}

interface Response {
  readonly description?: string;
  readonly $ref?: string;
}
