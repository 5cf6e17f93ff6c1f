import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { type BuildOptions, buildSync, type Metafile } from 'esbuild';

/** Returns the esbuild options for a minified ES module that includes the SDK. */
export function bundleOptions() {
  return {
    absWorkingDir: root,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    alias: {
      '@aws-sdk/credential-provider-node': './lambdas/platform/aws/environment-credentials.ts',
      'node:process': './lambdas/platform/running-process.ts',
    },
    sourcesContent: false,
    logLevel: 'warning',
  } satisfies BuildOptions;
}

/** Returns the esbuild options for a function's bundle. It omits SDK modules that no function uses. */
export function handlerOptions() {
  const options = bundleOptions();
  return { ...options, alias: { ...options.alias, ...Object.fromEntries(unusedModules.map(name => [name, stub])) } };
}

const unusedModules = ['@smithy/node-http-handler', '@smithy/signature-v4', '@smithy/core/event-streams'];
const stub = './lambdas/platform/aws/unused-sdk.ts';

/** The files of a handler's bundle, by name. They are `index.mjs` and one file for each package that the handler imports on demand. */
export type HandlerBundle = ReadonlyMap<string, string | Uint8Array>;

/**
 * Bundles handlers. A package that a handler's own code imports dynamically becomes a separate file in the bundle, with all its
 * dependencies. Node.js reads the file only when the handler imports it.
 *
 * Bundles do not depend on each other. esbuild parses shared files once, which halves the time (ADR 5).
 *
 * @param entries - the paths of `*.handler.ts` files, relative to the project's root
 * @param sourceMaps - true to add `index.mjs.map` with sources relative to the project's root. Functions have no maps (ADR 9).
 * @returns the bundles by entry
 */
export function bundleHandlers(entries: readonly string[], sourceMaps = false): ReadonlyMap<string, HandlerBundle> {
  mkdirSync(join(root, '.local'), { recursive: true });
  const directory = mkdtempSync(join(root, '.local/bundles-')); // in the project, because esbuild searches the parent folders for packages
  try {
    const handlers = joinOwnCode(entries, directory, sourceMaps);
    const packages = bundlePackages([...new Set(handlers.flatMap(({ deferred }) => deferred))]);
    // An alias applies to all imports of a package. Handlers that import it statically and dynamically need separate builds.
    const groups = Map.groupBy(handlers, ({ imports }) => imports.filter(name => packages.has(name)).join());
    const bundles = [...groups.values()].flatMap(group => bundleTogether(group, packages, directory, sourceMaps));
    return new Map(bundles);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Writes the files of a bundle to a directory, which it creates if necessary. Returns the path of `index.mjs`. */
export function writeBundle(bundle: HandlerBundle | undefined, directory: string): string {
  const path = join(directory, 'index.mjs');
  if (!bundle?.has('index.mjs')) throw new Error(`There is no bundle for ${path}.`);
  mkdirSync(directory, { recursive: true });
  for (const [name, content] of bundle) writeFileSync(join(directory, name), content);
  return path;
}

const root = join(import.meta.dirname, '../..');

/** A handler and its own code, bundled into one file. */
interface JoinedHandler {
  readonly entry: string;
  readonly file: string;
  /** The packages that the handler's own code imports statically. */
  readonly imports: readonly string[];
  /** The packages that the handler's own code imports dynamically. */
  readonly deferred: readonly string[];
}

/**
 * Bundles this project's own code into files in a directory. Preserves function names in this code for stack traces. Preserving the names
 * in packages as well would cost time (ADR 9).
 */
function joinOwnCode(entries: readonly string[], directory: string, sourceMaps: boolean): readonly JoinedHandler[] {
  const { alias: _, ...options } = bundleOptions();
  const { metafile } = buildSync({
    ...options,
    entryPoints: Object.fromEntries(entries.entries()),
    outdir: directory,
    outExtension: { '.js': ownCode }, // with the extension .mjs, esbuild would import CommonJS packages differently
    packages: 'external',
    minify: false,
    keepNames: true,
    sourcemap: sourceMaps && 'inline',
    metafile: true,
  });
  return entries.map((entry, index) => {
    const file = join(directory, `${index}${ownCode}`);
    const imports = outputOf(metafile, file).imports;
    const pathsOf = (isDynamic: boolean) => [
      ...new Set(imports.filter(({ kind }) => (kind === 'dynamic-import') === isDynamic).map(({ path }) => path)),
    ];
    return { entry, file, imports: pathsOf(false), deferred: pathsOf(true) };
  });
}

const ownCode = '.own';

function outputOf({ outputs }: Metafile, file: string): Metafile['outputs'][string] {
  const entry = Object.entries(outputs).find(([path]) => resolve(root, path) === file);
  if (!entry) throw new Error(`esbuild did not write ${file}.`);
  return entry[1];
}

/** Bundles each package into a separate file. In a handler's bundle, the packages would add 29 KiB that every process would load. */
function bundlePackages(names: readonly string[]): ReadonlyMap<string, readonly [file: string, content: Uint8Array]> {
  const entryPoints = names.map(name => ({ in: name, out: basename(name) }));
  const files = { outdir: root, outExtension: { '.js': '.mjs' }, write: false } as const;
  const { outputFiles } = buildSync({ ...bundleOptions(), ...files, entryPoints });
  const contents = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
  return new Map(
    names.map(name => {
      const file = `${basename(name)}.mjs`;
      return [name, [file, contents.get(file) ?? new Uint8Array()]];
    }),
  );
}

/** Bundles the handlers' own code with the packages that it imports, except packages in separate files. */
function bundleTogether(
  handlers: readonly JoinedHandler[],
  packages: ReturnType<typeof bundlePackages>,
  directory: string,
  sourceMaps: boolean,
): readonly (readonly [entry: string, HandlerBundle])[] {
  const imported = new Set(handlers.flatMap(({ imports }) => imports));
  const files = [...packages].flatMap(([name, [file]]) => (imported.has(name) ? [] : [[name, `./${file}`] as const]));
  const options = handlerOptions();
  const { outputFiles, metafile } = buildSync({
    ...options,
    metafile: true,
    sourcemap: sourceMaps && 'external',
    alias: { ...options.alias, ...Object.fromEntries(files) },
    external: files.map(([, file]) => file),
    entryPoints: Object.fromEntries(handlers.map(({ file }, index) => [index, file])),
    outdir: directory,
    loader: { [ownCode]: 'js' },
    write: false,
  });
  const contents = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
  const contentOf = (name: string) => contents.get(name) ?? new Uint8Array();
  return handlers.map(({ entry, deferred }, index) => {
    const { imports } = outputOf(metafile, join(directory, `${index}.js`));
    for (const { path } of imports.filter(({ external }) => external)) {
      if (path.startsWith('./') && !deferred.some(name => packages.get(name)?.[0] === basename(path)))
        throw new Error(`${entry}: a dependency imports a package that other handlers load from ${path}.`);
    }
    return [
      entry,
      new Map<string, string | Uint8Array>([
        ['index.mjs', contentOf(`${index}.js`)],
        ...(sourceMaps ? [['index.mjs.map', fromRoot(contentOf(`${index}.js.map`), directory)] as const] : []),
        ...[...packages].filter(([name]) => deferred.includes(name)).map(([, file]) => file),
      ]),
    ] as const;
  });
}

/** Rewrites the sources in a source map to paths relative to the project's root. */
function fromRoot(content: string | Uint8Array, directory: string): string {
  const map: { readonly sources: readonly string[] } = JSON.parse(Buffer.from(content).toString('utf8'));
  return JSON.stringify({ ...map, sources: map.sources.map(source => relative(root, resolve(directory, source))) });
}
