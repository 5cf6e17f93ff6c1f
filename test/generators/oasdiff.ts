import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { command } from '../support/command.ts';
import { oasdiff } from './downloads.ts';

/** Returns the breaking changes that oasdiff finds between two documents. */
export async function breakingChanges(before: Document, after: Document): Promise<string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-oasdiff-'));
  try {
    const [old = '', current = ''] = [before, after].map((document, at) => {
      const file = path.join(folder, `${at}.json`);
      writeFileSync(file, JSON.stringify(withEventsAsResponses(document)));
      return file;
    });
    const changes: readonly Change[] = JSON.parse(
      await command([await oasdiff(), 'breaking', '--format', 'json', old, current]),
    );
    const breaking = changes.filter(({ level }) => level === error);
    return breaking.map(({ id, text, operation, path: at }) => `${id}: ${operation} ${at}: ${text}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The part of an OpenAPI document that the comparison uses. */
interface Document {
  readonly paths: object;
  readonly webhooks?: Readonly<
    Record<string, { readonly post?: { readonly requestBody?: { readonly content: object } } }>
  >;
}

interface Change {
  readonly id: string;
  readonly text: string;
  readonly level: number;
  readonly operation: string;
  readonly path: string;
}

/** The level of changes that definitely break clients. */
const error = 3;

/** Converts events into responses. The service sends both, so the same changes break clients. */
function withEventsAsResponses({ paths, webhooks = {}, ...rest }: Document): object {
  const events = Object.entries(webhooks).map(([name, { post }]) => {
    const response = { description: 'The body of the delivery.', content: post?.requestBody?.content };
    return [`/events/${name}`, { get: { operationId: `event.${name}`, responses: { 200: response } } }];
  });
  return { ...rest, paths: { ...paths, ...Object.fromEntries(events) } };
}
