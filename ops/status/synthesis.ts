import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import type { StageConfiguration } from '../../lib/config.ts';
import { type StackName, stackNameOf, stackNamesOf } from '../stage/stage-stacks.ts';

/** The parts of a CloudFormation template that the checks use. */
export interface Template {
  readonly Resources?: Readonly<Record<string, Resource>>;
}

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** The result of a synthesis, which contains the templates that a deployment of a stage would apply. */
export interface Synthesis {
  readonly templates: Readonly<Partial<Record<StackName, Template>>>;
}

/**
 * Synthesises a stage in a separate process, as the CDK's command line does. Bundles the functions, because some policies
 * contain the hashes of bundles.
 * @throws {Error} with the last line of the process's standard error.
 */
export async function synthesise(configuration: StageConfiguration): Promise<Synthesis> {
  const { stage } = configuration;
  const directory = await mkdtemp(join(tmpdir(), 'emissor-preflight-'));
  try {
    const { context } = JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8'));
    const environment = { CDK_OUTDIR: directory, CDK_CONTEXT_JSON: JSON.stringify({ ...context, stage }) };
    await runApp(environment);
    return await readAssembly(directory, configuration);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function runApp(environment: Record<string, string>): Promise<void> {
  const app = ['--require', './bin/node-version.cjs', 'bin/app.ts'];
  try {
    await execute(process.execPath, app, { cwd: root, env: { ...process.env, ...environment }, maxBuffer: 64 << 20 });
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    throw new Error(stderr.trim().split('\n').at(-1) || String(error));
  }
}

async function readAssembly(directory: string, configuration: StageConfiguration): Promise<Synthesis> {
  const names = stackNamesOf(configuration);
  const readJson = async (file: string) => JSON.parse(await readFile(join(directory, file), 'utf8'));
  const { artifacts } = manifest.parse(await readJson('manifest.json'));
  const stacks = names.map(name => stackArtifact.parse(artifacts[stackNameOf(configuration.stage, name)]).properties);
  const templates = await Promise.all(
    stacks.map(async ({ templateFile }, index) => [names[index], await readJson(templateFile)]),
  );
  return { templates: Object.fromEntries(templates) };
}

const execute = promisify(execFile);

const root = join(import.meta.dirname, '../..');

const manifest = z.object({ artifacts: z.record(z.string(), z.unknown()) });

const stackArtifact = z.object({
  properties: z.object({ templateFile: z.string() }),
});

/** Returns the resources of some types in a template, with their logical ids. */
export function resourcesOf(template: Template, ...types: readonly string[]): readonly (readonly [string, Resource])[] {
  return Object.entries(template.Resources ?? {}).filter(([, { Type }]) => types.includes(Type));
}
