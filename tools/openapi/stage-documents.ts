import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
 * @param prefix - what the names of the files begin with.
 * @returns the files, with the texts.
 */
export function writeStageDocuments(folder: string, urls: StageUrls, prefix = ''): ReadonlyMap<string, string> {
  mkdirSync(folder, { recursive: true });
  const written = names.map(name => {
    const text = readFileSync(path.join(published, name), 'utf8')
      .replaceAll(exampleUrls.auth, withoutSlash(urls.auth))
      .replaceAll(exampleUrls.base, withoutSlash(urls.base));
    const file = path.join(folder, `${prefix}${name}`);
    writeFileSync(file, text);
    return [file, text] as const;
  });
  return new Map(written);
}

/** Removes them, but for what another has written there since. */
export function removeStageDocuments(documents: ReadonlyMap<string, string>): void {
  for (const [file, text] of documents) {
    if (existsSync(file) && readFileSync(file, 'utf8') === text) rmSync(file);
  }
}

const published = path.join(import.meta.dirname, '../../docs/api');

const names = ['auth.openapi.json', 'webhooks.openapi.json'];

function withoutSlash(url: string): string {
  return new URL(url).href.replace(/\/$/, '');
}
