import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { compactJson } from './compact-json.ts';
import { openApiDocument } from './document.ts';
import { eventSchemaFiles } from './event-schemas.ts';
import { operations } from './operations.ts';
import { type StageUrls, writeStageDocuments } from './stage-documents.ts';

/** The folder that contains the generated files and no others. */
export const artefactsFolder = 'docs/api';

/** Returns the published API documents, by repository path. */
export function artefacts(): ReadonlyMap<string, string> {
  const documents: readonly Artefact[] = [
    ['docs/api/auth.openapi.json', openApiDocument(operations, 'auth')],
    ['docs/api/webhooks.openapi.json', openApiDocument(operations, 'base')],
    ...eventSchemaFiles(businessEvents),
  ];
  return new Map(documents.map(([file, document]) => [file, compactJson(document)]));
}

type Artefact = readonly [file: string, document: object];

const root = path.join(import.meta.dirname, '../..');

if (import.meta.main) process.exitCode = run(process.argv.slice(2)); // `npm run openapi`

/** Writes the published documents. With `--auth` and `--base`, writes those of one stage instead. Returns the exit code. */
function run(args: readonly string[]): number {
  if (args.length === 0) {
    writeArtefacts();
    return 0;
  }
  const options = stageOptions(args);
  if (typeof options === 'string') {
    console.error(`npm run openapi -- --auth URL --base URL [--out DIR]: ${options}`);
    return 2;
  }
  try {
    for (const file of writeStageDocuments(path.resolve(options.out), options).keys()) console.log(file);
    return 0;
  } catch (error) {
    console.error(`Could not write the documents: ${error instanceof Error ? error.message : error}`);
    return 1;
  }
}

/** Returns the URLs of a stage and the folder for its documents, or an error message. */
function stageOptions(args: readonly string[]): (StageUrls & { readonly out: string }) | string {
  try {
    const options = { auth: { type: 'string' }, base: { type: 'string' }, out: { type: 'string' } } as const;
    const { auth, base, out = path.join(root, '.local') } = parseArgs({ args: [...args], options }).values;
    if (auth === undefined || base === undefined) return 'both URLs are required.';
    const invalid = [auth, base].find(url => !/^https?:$/.test(URL.parse(url)?.protocol ?? ''));
    return invalid === undefined ? { auth, base, out } : `"${invalid}" does not start with https:// or http://.`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Writes the files, and removes old files that are no longer generated. */
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
