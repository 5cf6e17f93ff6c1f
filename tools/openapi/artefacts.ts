import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { compactJson } from './compact-json.ts';
import { openApiDocument } from './document.ts';
import { eventSchemaFiles } from './event-schemas.ts';
import { operations } from './operations.ts';
import { type StageUrls, writeStageDocuments } from './stage-documents.ts';

/** The folder of the generated files. It contains no other files. */
export const artefactsFolder = 'docs/api';

/** Returns all published documents about the service, as a map from the path in the repository to the content. */
export function artefacts(): ReadonlyMap<string, string> {
  const documents: readonly Artefact[] = [
    ['docs/api/auth.openapi.json', openApiDocument(operations, 'auth')],
    ['docs/api/webhooks.openapi.json', openApiDocument(operations, 'base')],
    ...eventSchemaFiles(businessEvents),
  ];
  return new Map(documents.map(([file, document]) => [file, compactJson(document)]));
}

/** A file and the JSON document in it. */
type Artefact = readonly [file: string, document: object];

const root = path.join(import.meta.dirname, '../..');

if (import.meta.main) process.exitCode = run(process.argv.slice(2)); // `npm run openapi`

/** Writes the published documents, or with `--auth` and `--base` the documents of one stage. Returns the exit code. */
function run(words: readonly string[]): number {
  if (words.length === 0) {
    writeArtefacts();
    return 0;
  }
  const options = stageOptions(words);
  if (typeof options === 'string') {
    console.error(`npm run openapi -- --auth URL --base URL [--out DIR]: ${options}`);
    return 2;
  }
  try {
    for (const file of writeStageDocuments(path.resolve(options.out), options).keys()) console.log(file);
    return 0;
  } catch (error) {
    console.error(`The documents cannot be written: ${error instanceof Error ? error.message : error}`);
    return 1;
  }
}

/** Returns the addresses of a stage and the folder for its documents, or the error of the command line. */
function stageOptions(words: readonly string[]): (StageUrls & { readonly out: string }) | string {
  try {
    const options = { auth: { type: 'string' }, base: { type: 'string' }, out: { type: 'string' } } as const;
    const { auth, base, out = path.join(root, '.local') } = parseArgs({ args: [...words], options }).values;
    if (auth === undefined || base === undefined) return 'the addresses of a stage are missing.';
    const wrong = [auth, base].find(url => !/^https?:$/.test(URL.parse(url)?.protocol ?? ''));
    return wrong === undefined ? { auth, base, out } : `"${wrong}" is not a URL that starts with https:// or http://.`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Writes the files, and removes files that are no longer generated. */
function writeArtefacts(): void {
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
