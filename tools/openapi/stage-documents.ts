import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { exampleUrls } from './example-urls.ts';

export interface StageUrls {
  /** {auth_url} */
  readonly auth: string;
  /** {base_url} */
  readonly base: string;
}

/**
 * Writes the OpenAPI documents of a stage into a folder: the published ones with its addresses in place of the examples, so that
 * tools log in there by themselves.
 *
 * @returns the files.
 */
export function writeStageDocuments(folder: string, urls: StageUrls): readonly string[] {
  mkdirSync(folder, { recursive: true });
  return names.map(name => {
    const text = readFileSync(path.join(published, name), 'utf8')
      .replaceAll(exampleUrls.auth, withoutSlash(urls.auth))
      .replaceAll(exampleUrls.base, withoutSlash(urls.base));
    const file = path.join(folder, name);
    writeFileSync(file, text);
    return file;
  });
}

/** Removes them. */
export function removeStageDocuments(folder: string): void {
  for (const name of names) rmSync(path.join(folder, name), { force: true });
}

const published = path.join(import.meta.dirname, '../../docs/api');

const names = ['auth.openapi.json', 'webhooks.openapi.json'];

function withoutSlash(url: string): string {
  return new URL(url).href.replace(/\/$/, '');
}
