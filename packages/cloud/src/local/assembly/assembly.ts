import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { messageOf, StartError } from '../errors.ts';

/** A resource of a template. Its properties are unresolved. */
export interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** The parts of a CloudFormation template that the local cloud reads. */
export interface Template {
  readonly Parameters?: Readonly<Record<string, { readonly Default?: unknown }>>;
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs?: Readonly<
    Record<string, { readonly Value: unknown; readonly Export?: { readonly Name: unknown } }>
  >;
}

export interface Stack {
  readonly name: string;
  readonly template: Template;
}

/** A synthesised CDK app. */
export interface Assembly {
  /** The stacks in dependency order. The app creates them in this order. */
  readonly stacks: readonly Stack[];
  /** The directory of each asset (a function's bundle), by object key. */
  readonly assets: ReadonlyMap<string, string>;
}

/** A CDK app. It is a program that writes a cloud assembly. */
export interface CdkApp {
  /** The project directory, which contains `cdk.json`. */
  readonly root: string;
  /** The path of the program, relative to the project directory. The current Node.js executable runs it. */
  readonly entry: string;
  /** The context values that extend or override those in `cdk.json`. */
  readonly context: Readonly<Record<string, unknown>>;
}

/** Synthesises a CDK app to a directory. @throws {StartError} with the complete output of the app */
export async function synthesise({ root, entry, context }: CdkApp, output: string, signal: AbortSignal): Promise<void> {
  const project = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8'));
  const child = spawn(process.execPath, [join(root, entry)], {
    cwd: root,
    env: {
      ...process.env,
      CDK_OUTDIR: output,
      CDK_VALIDATION: 'false', // validation takes half of the synthesis time, and `cdk synth` runs it anyway
      CDK_CONTEXT_JSON: JSON.stringify({ ...project.context, ...context }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  const exited = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve));
  const [code, ...texts] = await Promise.all([exited, text(child.stderr), text(child.stdout)]);
  if (code !== 0) throw new StartError(`Could not synthesise the CDK app:\n${texts.join('').trim()}`);
}

/** Reads a cloud assembly. @throws {StartError} if the directory contains no valid assembly */
export function readAssembly(directory: string): Assembly {
  try {
    const { artifacts } = readJson<Manifest>(join(directory, 'manifest.json'));
    const stacks: Stack[] = [];
    const assets = new Map<string, string>();
    for (const [name, { type, properties: { templateFile = '', file = '' } = {} }] of Object.entries(artifacts)) {
      if (type === 'aws:cloudformation:stack') {
        stacks.push({ name, template: readJson<Template>(join(directory, templateFile)) });
      } else if (type === 'cdk:asset-manifest') {
        for (const { source, destinations } of Object.values(readJson<AssetManifest>(join(directory, file)).files)) {
          for (const { objectKey } of Object.values(destinations))
            assets.set(objectKey, resolve(directory, source.path));
        }
      }
    }
    return { stacks, assets };
  } catch (error) {
    throw new StartError(`${directory} is not a cloud assembly: ${messageOf(error)}`);
  }
}

function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(file, 'utf8'));
}

interface Manifest {
  readonly artifacts: Readonly<Record<string, Artifact>>;
}

interface Artifact {
  readonly type: string;
  readonly properties?: { readonly templateFile?: string; readonly file?: string };
}

interface AssetManifest {
  readonly files: Readonly<Record<string, Asset>>;
}

interface Asset {
  readonly source: { readonly path: string };
  readonly destinations: Readonly<Record<string, { readonly objectKey: string }>>;
}
