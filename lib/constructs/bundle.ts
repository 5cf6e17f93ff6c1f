import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import { type BuildOptions, buildSync } from 'esbuild';

/** Returns the esbuild options of a minified ES module with the SDK inside, and its source map beside it. */
export function bundleOptions(outfile: string) {
  return {
    absWorkingDir: root,
    outfile,
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
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'warning',
  } satisfies BuildOptions;
}

/** Returns the esbuild options of a function's own bundle: without what the SDK imports and no function uses. */
export function handlerOptions(outfile: string) {
  const options = bundleOptions(outfile);
  return { ...options, alias: { ...options.alias, ...Object.fromEntries(unused.map(name => [name, standIn])) } };
}

const unused = ['@smithy/node-http-handler', '@smithy/signature-v4', '@smithy/core/event-streams'];
const standIn = './lambdas/platform/aws/unused-sdk.ts';

/**
 * Bundles a handler to `outfile`, and writes the map of this project's own code to `<outfile>.map`. A package that its own code
 * imports dynamically becomes a file beside it, with all that it needs: it is read when it is imported, if ever.
 *
 * @returns the paths of all source files in the bundle
 */
export function bundleHandler(entry: string, outfile: string): readonly string[] {
  const { contents, deferred } = joinOwnCode(entry, outfile);
  const files = Object.fromEntries(deferred.map(name => [name, `./${basename(name)}.mjs`]));
  for (const [name, path] of Object.entries(files)) bundlePackage(name, join(dirname(outfile), path));
  const options = handlerOptions(outfile);
  const { metafile } = buildSync({
    ...options,
    alias: { ...options.alias, ...files },
    external: Object.values(files),
    stdin: { contents, resolveDir: dirname(resolve(root, entry)), sourcefile: `${outfile}.own` },
    metafile: true,
  });
  const file = `${outfile}.map`;
  writeFileSync(file, JSON.stringify(keepOwnCode(JSON.parse(readFileSync(file, 'utf8')), dirname(outfile))));
  return Object.keys(metafile.inputs);
}

/** Bundles code that runs at deployments only. Returns a script, which the CDK's own entry can load. */
export function bundleScript(entry: string): string {
  const { outputFiles } = buildSync({
    ...bundleOptions('index.js'),
    entryPoints: [entry],
    format: 'cjs',
    sourcemap: false,
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

const root = join(import.meta.dirname, '../..');

/**
 * Bundles this project's own code with the names of its functions, for stack traces. Those of packages would cost time (ADR 9).
 * `deferred` are the packages that it imports dynamically.
 */
function joinOwnCode(
  entry: string,
  outfile: string,
): { readonly contents: string; readonly deferred: readonly string[] } {
  const { alias: _, ...options } = bundleOptions(outfile);
  const { outputFiles, metafile } = buildSync({
    ...options,
    entryPoints: [entry],
    packages: 'external',
    minify: false,
    keepNames: true,
    sourcemap: 'inline',
    write: false,
    metafile: true,
  });
  const imports = Object.values(metafile.outputs).flatMap(output => output.imports);
  const deferred = imports.filter(({ kind }) => kind === 'dynamic-import').map(({ path }) => path);
  return { contents: outputFiles[0]?.text ?? '', deferred: [...new Set(deferred)] };
}

/** One bundle for both would run every module that they share in a wrapper: that adds 29 KiB, and is loaded by all. */
function bundlePackage(name: string, outfile: string): void {
  buildSync({ ...bundleOptions(outfile), entryPoints: [name], sourcemap: false });
}

/**
 * Drops the mappings to packages: a tenth remains, which a function can read quickly when it logs an error. Paths of sources
 * are relative to the project's root, so that the map, and with it the asset's hash, is the same on every machine.
 */
function keepOwnCode({ sources, mappings }: SourceMapFile, directory: string) {
  const own = sources.flatMap((source, index) => (source.includes('node_modules/') ? [] : [index]));
  const kept = new Map(own.map((index, position) => [index, position]));
  const lines = decode(mappings).map(line => {
    const segments: SourceMapSegment[] = [];
    for (const [column, source, sourceLine, sourceColumn] of line) {
      const position = source === undefined ? undefined : kept.get(source);
      if (position !== undefined) segments.push([column, position, sourceLine ?? 0, sourceColumn ?? 0]);
      else if (segments.at(-1)?.length !== 1) segments.push([column]); // a segment without a source ends the mapping before it
    }
    return segments;
  });
  return {
    version: 3,
    sources: own.map(index => relative(root, resolve(directory, sources[index] ?? ''))),
    names: [],
    mappings: encode(lines),
  };
}

/** A source map as esbuild writes it (version 3). */
interface SourceMapFile {
  readonly sources: readonly string[];
  readonly mappings: string;
}
