import { asyncApiDocument } from './asyncapi.ts';
import { localEnvironment, postmanCollection } from './collection.ts';
import { openApiDocument } from './document.ts';
import { eventSchemaFiles } from './event-schemas.ts';
import { publisherSources } from './publisher-sources.ts';

/** The folder that holds what is generated, and nothing else. */
export const artefactsFolder = 'docs/api';

/** Everything that describes the service to programs of others: file (its path from the root of the tree) -> content. */
export function artefacts(): ReadonlyMap<string, string> {
  const documents: readonly Artefact[] = [
    ['docs/api/emissor.openapi.json', openApiDocument()],
    ['docs/api/emissor.asyncapi.json', asyncApiDocument()],
    ...eventSchemaFiles(),
    ['docs/api/emissor.postman_collection.json', postmanCollection()],
    ['docs/api/local.postman_environment.json', localEnvironment()],
  ];
  const texts = documents.map(([file, document]) => [file, `${JSON.stringify(document, null, 2)}\n`] as const);
  return new Map([...texts, ...publisherSources()]);
}

/** A file and the JSON document in it. */
type Artefact = readonly [file: string, document: object];
