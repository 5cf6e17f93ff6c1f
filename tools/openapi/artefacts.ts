import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { asyncApiDocument } from './asyncapi.ts';
import { localEnvironment, postmanCollection } from './collection.ts';
import { compactJson } from './compact-json.ts';
import { openApiDocument } from './document.ts';
import { eventSchemaFiles } from './event-schemas.ts';
import { operations } from './operations.ts';
import { publisherSources } from './publisher-sources.ts';

/** The folder that holds what is generated, and nothing else. */
export const artefactsFolder = 'docs/api';

/** Returns everything that describes the service to programs of others: file (its path from the root of the tree) -> content. */
export function artefacts(): ReadonlyMap<string, string> {
  const documents: readonly Artefact[] = [
    ['docs/api/auth.openapi.json', openApiDocument(operations, 'auth')],
    ['docs/api/webhooks.openapi.json', openApiDocument(operations, 'base')],
    ['docs/api/emissor.asyncapi.json', asyncApiDocument()],
    ...eventSchemaFiles(),
    ['docs/api/emissor.postman_collection.json', postmanCollection(operations)],
    ['docs/api/local.postman_environment.json', localEnvironment()],
  ];
  const texts = documents.map(([file, document]) => [file, compactJson(document)] as const);
  return new Map([...texts, ...publisherSources()]);
}

/** A file and the JSON document in it. */
type Artefact = readonly [file: string, document: object];

if (import.meta.main) writeArtefacts(path.join(import.meta.dirname, '../..')); // `npm run openapi`

/** Writes them, and removes what no longer is one. */
function writeArtefacts(root: string): void {
  const written = artefacts();
  for (const [file, content] of written) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), content);
  }
  for (const entry of readdirSync(path.join(root, artefactsFolder), { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile() && !written.has(path.relative(root, file))) rmSync(file);
  }
  console.log(
    `${artefactsFolder}: ${[...written.keys()].map(file => path.relative(artefactsFolder, file)).join(', ')}`,
  );
}
