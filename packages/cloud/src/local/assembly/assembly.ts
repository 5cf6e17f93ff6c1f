import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { codeOf, messageOf, StartError } from '../errors.ts';

/** A resource of a template, its properties unresolved. */
export type Resource = z.output<typeof resourceSchema>;

/** A CloudFormation template, as far as it is read here. */
export type Template = z.output<typeof templateSchema>;

export interface Stack {
  readonly name: string;
  readonly template: Template;
}

/** The result of the synthesis of a CDK app. */
export interface Assembly {
  /** Stacks in the order of their dependencies. */
  readonly stacks: readonly Stack[];
  /** Directory of an asset (a function's bundle), by the object key the templates know it under. */
  readonly assets: ReadonlyMap<string, string>;
}

/** A CDK app: a program that makes a cloud assembly. */
export interface CdkApp {
  /** Directory of the project, which has its `cdk.json`. */
  readonly root: string;
  /** The program, as a path from there. This Node runs it. */
  readonly entry: string;
  /** Values of the app's context, besides those of `cdk.json`. @default - none */
  readonly context?: Readonly<Record<string, unknown>>;
}

/**
 * Synthesises a CDK app.
 *
 * @throws {StartError} with the app's own reason, in one line.
 */
export async function synthesise(
  { root, entry, context = {} }: CdkApp,
  {
    output,
    logFile,
    signal,
  }: {
    /** Directory of the cloud assembly; it is created. */
    readonly output: string;
    /** Gets all that the app wrote, if it fails. */
    readonly logFile: string;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const child = spawn(process.execPath, [join(root, entry)], {
    cwd: root,
    env: {
      ...process.env,
      CDK_OUTDIR: output,
      CDK_VALIDATION: 'false', // it takes half of a synthesis, and `cdk synth` does it
      CDK_CONTEXT_JSON: JSON.stringify({ ...projectContext(root), ...context }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  const exited = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve));
  const [code, ...written] = await Promise.all([exited, text(child.stderr), text(child.stdout)]);
  if (code === 0) return;
  const said = written.join('');
  throw new StartError(`The CDK app does not synthesise: ${gist(said)} (${keep(said, logFile)})`);
}

/**
 * Reads the cloud assembly in a directory.
 *
 * @throws {StartError} when it is not one.
 */
export function readAssembly(directory: string): Assembly {
  const { artifacts } = readJson(manifestSchema, join(directory, 'manifest.json'));
  const stacks: Stack[] = [];
  const assets = new Map<string, string>();
  for (const name of inDeploymentOrder(artifacts)) {
    const { type, properties } = artifacts[name] ?? { type: '', properties: {} };
    if (type === 'aws:cloudformation:stack' && properties.templateFile) {
      const template = readJson(templateSchema, join(directory, properties.templateFile));
      stacks.push({ name: properties.stackName ?? name, template });
    } else if (type === 'cdk:asset-manifest' && properties.file) {
      for (const { source, destinations } of Object.values(
        readJson(assetsSchema, join(directory, properties.file)).files,
      )) {
        const [destination] = Object.values(destinations);
        if (destination && source.path) assets.set(destination.objectKey, resolve(directory, source.path));
      }
    }
  }
  if (stacks.length === 0) throw new StartError(`The assembly in ${directory} holds no stack.`);
  return { stacks, assets };
}

/** Feature flags and other context of the project, which otherwise the CDK's command line reads. */
function projectContext(root: string): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')).context ?? {};
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {};
    throw new StartError('cdk.json cannot be read: it is not JSON.');
  }
}

/** Writes an app's output to a file. Returns where it is, or why it could not be written. */
function keep(output: string, file: string): string {
  try {
    writeFileSync(file, output);
    return `all of it: ${file}`;
  } catch (error) {
    return `all of it cannot be written to ${file}: ${messageOf(error)}`;
  }
}

/** Returns the line of an app's output that says what is wrong. */
function gist(output: string): string {
  const lines = output
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !/^(Node\.js v|at |Bundling asset )/.test(line));
  const telling = /^(✘ \[ERROR\]|\[?[\w«»]*(Error|Validation)[\w»]*\]?:|«\w+»)/;
  return lines.find(line => telling.test(line)) ?? lines[0] ?? 'the app said nothing';
}

const resourceSchema = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  Condition: z.string().optional(),
});

const outputSchema = z.object({ Value: z.unknown(), Export: z.object({ Name: z.unknown() }).optional() });

const templateSchema = z.object({
  Parameters: z.record(z.string(), z.object({ Type: z.string(), Default: z.unknown() })).default({}),
  Resources: z.record(z.string(), resourceSchema).default({}),
  Outputs: z.record(z.string(), outputSchema).default({}),
});

function readJson<Schema extends z.ZodType>(schema: Schema, path: string): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    throw new StartError(`The synthesised ${path} cannot be read: ${messageOf(error)}`);
  }
}

const manifestSchema = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      dependencies: z.array(z.string()).default([]),
      properties: z
        .object({ templateFile: z.string().optional(), stackName: z.string().optional(), file: z.string().optional() })
        .default({}),
    }),
  ),
});

/** Names of the artifacts, each after those it depends on. */
function inDeploymentOrder(artifacts: Artifacts): readonly string[] {
  const ordered = new Set<string>();
  const visit = (name: string): void => {
    if (ordered.has(name)) return;
    for (const dependency of artifacts[name]?.dependencies ?? []) visit(dependency);
    ordered.add(name);
  };
  for (const name of Object.keys(artifacts)) visit(name);
  return [...ordered];
}

const assetsSchema = z.object({
  files: z
    .record(
      z.string(),
      z.object({
        source: z.object({ path: z.string().optional() }),
        destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
      }),
    )
    .default({}),
});

type Artifacts = z.output<typeof manifestSchema>['artifacts'];
