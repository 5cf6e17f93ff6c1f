import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { command } from '../support/command.ts';
import { keptFolder } from '../support/kept-folder.ts';
import { generatorVersion, npmVersions } from './versions.ts';

/* External programs in exact versions, cached in the user's cache directory. They are no dependencies of the repository. */

/** The version of oasdiff. */
const oasdiffVersion = '1.18.5';

/** Returns the JAR of openapi-generator's CLI, from Maven Central. @throws if its hash is not the known one. */
export async function generatorJar(): Promise<string> {
  const name = `openapi-generator-cli-${generatorVersion}.jar`;
  const folder = await keptFolder(`generators/openapi-generator-${generatorVersion}`, async draft => {
    say(`${name} comes from Maven Central …`);
    const response = await fetch(
      `https://repo1.maven.org/maven2/org/openapitools/openapi-generator-cli/${generatorVersion}/${name}`,
    );
    if (!response.ok) throw new Error(`Maven Central answers ${response.status} to ${name}.`);
    writeFileSync(path.join(draft, name), Buffer.from(await response.arrayBuffer()));
  });
  const file = path.join(folder, name);
  const hash = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (hash !== jarHash) throw new Error(`${file} is not the known one: its SHA-256 is ${hash}.`);
  return file;
}

/** Returns the folder of the packages of npm: the types' generator, the client that uses them, and a compiler. */
export async function npmPackages(): Promise<string> {
  const packages = Object.entries(npmVersions).map(([name, version]) => `${name}@${version}`);
  return keptFolder(`generators/${packages.join('-').replaceAll('/', '-')}`, async draft => {
    say(`${packages.join(', ')} come from npm …`);
    await command(['npm', 'install', '--prefix', draft, '--save-exact', '--no-audit', '--no-fund', ...packages]);
  });
}

/** Returns the file of oasdiff, built from Go's module proxy, which verifies it by its checksum database. */
export async function oasdiff(): Promise<string> {
  const folder = await keptFolder(`generators/oasdiff-${oasdiffVersion}`, async draft => {
    say(`oasdiff ${oasdiffVersion} is built …`);
    await command(['go', 'install', `github.com/oasdiff/oasdiff@v${oasdiffVersion}`], { env: { GOBIN: draft } });
  });
  return path.join(folder, 'oasdiff');
}

const jarHash = '41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae';

/** Shows the current step on the terminal, because the project takes minutes. */
function say(line: string): void {
  process.stdout.write(`generators: ${line}\n`);
}
