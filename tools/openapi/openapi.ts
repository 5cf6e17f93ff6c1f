import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { artefacts, artefactsFolder } from './artefacts.ts';

/* `npm run openapi`: writes the documents that describe the service to programs of others, and removes what no longer is one. */

const root = path.join(import.meta.dirname, '../..');
const written = artefacts();

for (const [file, content] of written) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), content);
}
for (const entry of readdirSync(path.join(root, artefactsFolder), { recursive: true, withFileTypes: true })) {
  const file = path.join(entry.parentPath, entry.name);
  if (entry.isFile() && !written.has(path.relative(root, file))) rmSync(file);
}
console.log(`${artefactsFolder}: ${[...written.keys()].map(file => path.relative(artefactsFolder, file)).join(', ')}`);
