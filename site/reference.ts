import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const docs = path.join(import.meta.dirname, '../docs');

/** Writes an OpenAPI document for the site, and returns its path. Error responses contain only a description with links to the error pages. */
export function referenceOf(name: string, base: string): string {
  const errors = readFileSync(path.join(docs, 'en/errors.md'), 'utf8');
  const withLinks = (text: string) =>
    text.replaceAll(/`(\w+)`/g, (quoted, code) =>
      errors.includes(`### ${code}\n`) ? `[${quoted}](${base}en/errors/#${code})` : quoted,
    );
  const document = JSON.parse(readFileSync(path.join(docs, `api/${name}.openapi.json`), 'utf8'), (key, value) =>
    /^[45]\d\d/.test(key) && value.description ? { description: withLinks(value.description) } : value,
  );
  const file = path.join(import.meta.dirname, '.astro', `${name}.openapi.json`);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(document));
  return file;
}
