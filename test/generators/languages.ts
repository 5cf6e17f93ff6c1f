import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { pythonEnvironment } from '../support/python-environment.ts';
import { command } from './commands.ts';
import { npmPackages } from './downloads.ts';

/** A language that clients are generated in. */
export interface Language {
  /** The settings of openapi-generator that give the client of a document a name of its own. */
  readonly properties: (document: DocumentName) => Readonly<Record<string, string>>;
  /** How much of the service its program drives. */
  readonly drives: 'everything' | 'essentials';
  /**
   * Compiles both clients in the folder, and the program that drives them.
   *
   * @returns the command of that program.
   */
  readonly compile: (folder: string) => Promise<readonly [string, ...string[]]>;
}

/** The documents, each of which is made into a client in a folder of its name. */
export const documentNames = ['auth', 'webhooks'] as const;

/** The name of one of them. */
export type DocumentName = (typeof documentNames)[number];

/** Returns the file of a published document. */
export function documentFile(name: DocumentName): string {
  return path.join(import.meta.dirname, '../../docs/api', `${name}.openapi.json`);
}

/** The languages, by the name of their generator. */
export const languages: Readonly<Record<string, Language>> = {
  java: {
    drives: 'everything',
    properties: name => ({
      groupId: 'emissor',
      artifactId: name,
      invokerPackage: `emissor.${name}`,
      apiPackage: `emissor.${name}.api`,
      modelPackage: `emissor.${name}.model`,
    }),
    async compile(folder) {
      writeFileSync(path.join(folder, 'pom.xml'), bothModules);
      const goals = ['-DskipTests', 'compile', 'dependency:copy-dependencies', '-DincludeScope=runtime'];
      await command(['mvn', '--quiet', '--batch-mode', ...goals], { cwd: folder });
      const paths = documentNames.flatMap(name =>
        ['classes', 'dependency/*'].map(of => `${folder}/${name}/target/${of}`),
      );
      const classPath = [...paths, folder].join(path.delimiter);
      await command(['javac', '-cp', classPath, '-d', folder, driverOf('java', 'Drive.java')]);
      return ['java', '-cp', classPath, 'Drive'];
    },
  },
  go: {
    drives: 'essentials',
    properties: name => ({ packageName: name, gitUserId: 'emissor', gitRepoId: name }),
    async compile(folder) {
      const drive = path.join(folder, 'drive');
      cpSync(driverOf('go'), drive, { recursive: true });
      const modules = documentNames.map(name => `github.com/emissor/${name}`);
      const lines = modules.map(
        (module, at) => `require ${module} v0.0.0\nreplace ${module} => ../${documentNames[at]}`,
      );
      writeFileSync(path.join(drive, 'go.mod'), `module drive\n\ngo 1.23\n\n${lines.join('\n')}\n`);
      await command(['go', 'build', '-mod=mod', '-o', 'drive', '.'], { cwd: drive });
      return [path.join(drive, 'drive')];
    },
  },
  python: {
    drives: 'essentials',
    properties: name => ({ packageName: `emissor_${name}` }),
    async compile(folder) {
      const python = await pythonEnvironment('generators', [
        'lazy-imports==1.2.0',
        'pydantic==2.12.4',
        'python-dateutil==2.9.0.post0',
        'typing-extensions==4.15.0',
        'urllib3==2.7.0',
      ]);
      const folders = documentNames.map(name => path.join(folder, name));
      await command([python, '-m', 'compileall', '-q', ...folders]);
      cpSync(driverOf('python', 'drive.py'), path.join(folder, 'drive.py'));
      return ['env', `PYTHONPATH=${folders.join(path.delimiter)}`, python, path.join(folder, 'drive.py')];
    },
  },
  'typescript-fetch': {
    drives: 'everything',
    properties: () => ({}),
    compile: folder => compileTypeScript(folder, 'typescript-fetch'),
  },
  php: {
    drives: 'essentials',
    properties: name => ({ invokerPackage: `Emissor\\${name === 'auth' ? 'Auth' : 'Webhooks'}` }),
    async compile(folder) {
      const files = await command(['find', ...documentNames.map(name => `${name}/lib`), '-name', '*.php'], {
        cwd: folder,
      });
      await command(['php', '-l', ...files.trim().split('\n')], { cwd: folder });
      return ['env', `PHP_FOLDER=${folder}`, 'php', driverOf('php', 'drive.php')];
    },
  },
};

/** Both clients are modules of one project: Maven starts once. */
const bothModules = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>emissor</groupId><artifactId>both</artifactId><version>1</version><packaging>pom</packaging>
  <modules>${documentNames.map(name => `<module>${name}</module>`).join('')}</modules>
</project>`;

/** Compiles the driver of a client in TypeScript with what stands beside it in the folder, strictly. Returns its command. */
export async function compileTypeScript(folder: string, name: string): Promise<readonly [string, ...string[]]> {
  const packages = await npmPackages();
  const modules = path.join(packages, 'node_modules');
  cpSync(driverOf(name, 'drive.ts'), path.join(folder, 'drive.ts'));
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [path.join(import.meta.dirname, '../../node_modules/@types')],
    paths: { 'openapi-fetch': [path.join(modules, 'openapi-fetch')] },
  };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['drive.ts'] }));
  await command([process.execPath, path.join(modules, 'typescript/bin/tsc'), '--project', folder]);
  const outfile = path.join(folder, 'drive.mjs');
  const entryPoints = [path.join(folder, 'drive.ts')];
  await build({
    entryPoints,
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    nodePaths: [modules],
    logLevel: 'error',
  });
  return [process.execPath, outfile];
}

function driverOf(...names: readonly string[]): string {
  return path.join(import.meta.dirname, 'drivers', ...names);
}
