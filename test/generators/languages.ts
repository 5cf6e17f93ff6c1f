import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { command } from '../support/command.ts';
import { pythonEnvironment } from '../support/python-environment.ts';
import { npmPackages } from './downloads.ts';

interface Language {
  /** The openapi-generator settings for the package names of a document's client. */
  readonly properties: (document: DocumentName) => Readonly<Record<string, string>>;
}

/** A language for which the tests only compile the clients. */
interface CompiledLanguage extends Language {
  /** Compiles both clients in the folder. */
  readonly compile: (folder: string) => Promise<void>;
}

/** A language for which a program calls the clients. */
interface DrivenLanguage extends Language {
  readonly steps: Steps;
  /**
   * Compiles both clients in the folder, and the program that calls them.
   *
   * @returns the command of that program
   */
  readonly compile: (folder: string) => Promise<readonly [string, ...string[]]>;
}

/** The steps that a program prints for the run under test, and for a later version of the service. */
export interface Steps {
  readonly live: readonly string[];
  readonly later: readonly string[];
}

/** The documents. Each document has a generated client in a folder with the same name. */
export const documentNames = ['auth', 'webhooks'] as const;

export type DocumentName = (typeof documentNames)[number];

export function documentFile(name: DocumentName): string {
  return path.join(import.meta.dirname, '../../docs/api', `${name}.openapi.json`);
}

/** The languages for which a program calls the clients, by generator name. */
export const drivenLanguages: Readonly<Record<string, DrivenLanguage>> = {
  java: {
    steps: {
      live: [
        ...['log in', 'refresh', 'introspect', 'register', 'rotate', 'list', 'test', 'page', 'filter', 'delivery'],
        ...['resend', 'replay', '422', 'revoke'],
      ],
      later: ['token', 'introspection', 'webhook', 'delivery', 'problem', '422', 'event', 'grown event'],
    },
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
  python: {
    steps: { live: ['log in', 'register', 'rotate', 'filter'], later: ['webhook', 'event'] },
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
      const driver = driverOf('python', 'drive.py');
      return ['env', `PYTHONPATH=${folders.join(path.delimiter)}`, python, driver];
    },
  },
};

/** The languages for which the tests only compile the clients, by generator name. */
export const compiledLanguages: Readonly<Record<string, CompiledLanguage>> = {
  go: {
    properties: name => ({ packageName: name, gitUserId: 'emissor', gitRepoId: name }),
    async compile(folder) {
      for (const name of documentNames)
        await command(['go', 'build', '-mod=mod', './...'], { cwd: path.join(folder, name) });
    },
  },
  'typescript-fetch': {
    properties: () => ({}),
    compile: folder =>
      compileTypeScript(
        folder,
        documentNames.map(name => `${name}/index.ts`),
      ),
  },
  php: {
    properties: name => ({ invokerPackage: `Emissor\\${name === 'auth' ? 'Auth' : 'Webhooks'}` }),
    async compile(folder) {
      const files = await command(['find', ...documentNames.map(name => `${name}/lib`), '-name', '*.php'], {
        cwd: folder,
      });
      // PHP before 8.3 checks only the first file of its command line.
      for (const file of files.trim().split('\n')) await command(['php', '-l', file], { cwd: folder });
    },
  },
};

export const languages: Readonly<Record<string, Language>> = { ...drivenLanguages, ...compiledLanguages };

/** A project that contains both clients as modules, so that Maven starts only once. */
const bothModules = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>emissor</groupId><artifactId>both</artifactId><version>1</version><packaging>pom</packaging>
  <modules>${documentNames.map(name => `<module>${name}</module>`).join('')}</modules>
</project>`;

/** Type-checks files in a folder, in strict mode. */
export async function compileTypeScript(folder: string, files: readonly string[]): Promise<void> {
  const modules = path.join(await npmPackages(), 'node_modules');
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
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  await command([process.execPath, path.join(modules, 'typescript/bin/tsc'), '--project', folder]);
}

function driverOf(...names: readonly string[]): string {
  return path.join(import.meta.dirname, 'drivers', ...names);
}
