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
 * Writes the OpenAPI documents of a stage into a folder. They contain the URLs of the stage instead of the example URLs, so
 * tools can log in automatically. If writing fails, it removes all documents.
 *
 * @param prefix - the prefix of the file names
 * @returns the text of each file
 */
export function writeStageDocuments(folder: string, urls: StageUrls, prefix = ''): ReadonlyMap<string, string> {
  mkdirSync(folder, { recursive: true });
  const texts = new Map<string, string>();
  try {
    for (const name of names) {
      const text = readFileSync(path.join(publishedFolder, name), 'utf8')
        .replaceAll(exampleUrls.auth, withoutSlash(urls.auth))
        .replaceAll(exampleUrls.base, withoutSlash(urls.base));
      const file = path.join(folder, `${prefix}${name}`);
      writeFileSync(file, text);
      texts.set(file, text);
    }
  } catch (error) {
    removeStageDocuments(texts);
    throw error;
  }
  return texts;
}

/** Removes the documents. Files that another program has overwritten remain. */
export function removeStageDocuments(documents: ReadonlyMap<string, string>): void {
  for (const [file, text] of documents) {
    if (existsSync(file) && readFileSync(file, 'utf8') === text) rmSync(file);
  }
}

const publishedFolder = path.join(import.meta.dirname, '../../docs/api');

const names = ['auth.openapi.json', 'webhooks.openapi.json'];

function withoutSlash(url: string): string {
  return new URL(url).href.replace(/\/$/, '');
}
