import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The name of a stage. It is the name of the stage's file in `stages/`, without the extension. */
export type StageName = string;

/** An error for an unknown stage, an unknown key, or an invalid or missing value. The message is one line for the operator. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Returns the names of the stages that have a file. `npm start` runs `local`. */
export function stageNames(): readonly StageName[] {
  return readdirSync(stagesDirectory)
    .filter(file => file.endsWith('.ts'))
    .map(file => file.slice(0, -'.ts'.length))
    .filter(isStageName)
    .sort();
}

/**
 * Returns `name` if a stage with this name has a file.
 *
 * @throws {ConfigurationError} if no such stage exists. The message explains how to create one.
 */
export function requireStage(name: unknown): StageName {
  const stages = stageNames();
  if (isStageName(name) && stages.includes(name)) return name;
  throw new ConfigurationError(
    `Unknown stage "${String(name)}": the stages are ${stages.join(', ')}. For a new stage, copy stages/prod.ts to stages/NAME.ts. NAME must start with a lower-case letter and contain only lower-case letters, digits and hyphens (at most 20 characters).`,
  );
}

/** Returns true if a value is a valid name of a stage. */
export function isStageName(name: unknown): name is StageName {
  return typeof name === 'string' && /^[a-z][a-z0-9-]{0,19}$/.test(name);
}

/**
 * Returns the `stage` export of a stage's file, without validation.
 *
 * @throws {ConfigurationError} if the file does not load or does not have this export.
 */
export function readStageFile(stage: StageName): object {
  const { stage: file } = loadStageFile(stage);
  if (typeof file === 'object' && file !== null) return file;
  throw new ConfigurationError(`stages/${stage}.ts must export the constant "stage".`);
}

function loadStageFile(stage: StageName): { readonly stage?: unknown } {
  try {
    return load(join(stagesDirectory, `${stage}.ts`));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError(
      `Could not load stages/${stage}.ts (${reason.replaceAll(/\s+/g, ' ')}). Run npx tsc --noEmit to find the error.`,
    );
  }
}

const stagesDirectory = join(import.meta.dirname, '../stages');

/** Loads a module synchronously. With an asynchronous import, every function that reads stage values would be asynchronous. */
const load = createRequire(import.meta.url);
