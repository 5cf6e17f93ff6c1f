import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cachedFolder } from '../support/cached-folder.ts';
import { command } from '../support/command.ts';
import { generatorVersion, npmVersions } from './versions.ts';

/* Downloads external programs in exact versions to the user's cache directory. The repository does not depend on them. */

const oasdiffVersion = '1.18.5';

/** Returns the path of openapi-generator's JAR from Maven Central. @throws if its hash does not match */
export async function generatorJar(): Promise<string> {
  const name = `openapi-generator-cli-${generatorVersion}.jar`;
  const folder = await cachedFolder(`generators/openapi-generator-${generatorVersion}`, async draft => {
    log(`downloading ${name} from Maven Central …`);
    const response = await fetch(
      `https://repo1.maven.org/maven2/org/openapitools/openapi-generator-cli/${generatorVersion}/${name}`,
    );
    if (!response.ok) throw new Error(`Could not download ${name} (Maven Central returned ${response.status}).`);
    writeFileSync(path.join(draft, name), Buffer.from(await response.arrayBuffer()));
  });
  const file = path.join(folder, name);
  const hash = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (hash !== jarHash) throw new Error(`${file} has an unexpected SHA-256 (${hash}). Delete it and try again.`);
  return file;
}

/** Returns the folder with the npm packages, which are a type generator, a client that uses the types, and a compiler. */
export async function npmPackages(): Promise<string> {
  const packages = Object.entries(npmVersions).map(([name, version]) => `${name}@${version}`);
  return cachedFolder(`generators/${packages.join('-').replaceAll('/', '-')}`, async draft => {
    log(`installing ${packages.join(', ')} from npm …`);
    await command(['npm', 'install', '--prefix', draft, '--save-exact', '--no-audit', '--no-fund', ...packages]);
  });
}

/** Returns the path of oasdiff, which `go install` builds. Go verifies the module with its checksum database. */
export async function oasdiff(): Promise<string> {
  const folder = await cachedFolder(`generators/oasdiff-${oasdiffVersion}`, async draft => {
    log(`building oasdiff ${oasdiffVersion} …`);
    await command(['go', 'install', `github.com/oasdiff/oasdiff@v${oasdiffVersion}`], { env: { GOBIN: draft } });
  });
  return path.join(folder, 'oasdiff');
}

const jarHash = '41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae';

/** Prints the current step, because these tests take minutes. */
function log(line: string): void {
  process.stdout.write(`generators: ${line}\n`);
}
