import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The name of a stage, which is the name of its file in `stages/`. */
export type StageName = string;

/** An unknown stage, an unknown key, or an invalid or missing value. The message is one line for the operator. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Returns the stages that have a file. `npm start` runs `local`. */
export function stageNames(): readonly StageName[] {
  return readdirSync(stagesDirectory)
    .filter(file => file.endsWith('.ts'))
    .map(file => file.slice(0, -'.ts'.length))
    .filter(isStageName)
    .sort();
}

/**
 * Returns a text as the name of a stage that has a file.
 *
 * @throws {ConfigurationError} for any other text. The message explains how to create a stage.
 */
export function knownStage(name: unknown): StageName {
  const stages = stageNames();
  if (isStageName(name) && stages.includes(name)) return name;
  throw new ConfigurationError(
    `Unknown stage "${String(name)}": the stages are ${stages.join(', ')}. For a new stage, copy stages/prod.ts to stages/NAME.ts. NAME has at most 20 lower-case letters, digits and hyphens and starts with a letter.`,
  );
}

/** Returns whether a text may be the name of a stage. */
export function isStageName(name: unknown): name is StageName {
  return typeof name === 'string' && /^[a-z][a-z0-9-]{0,19}$/.test(name);
}

/**
 * Returns the export `stage` of a stage's file, unchecked.
 *
 * @throws {ConfigurationError} if the file cannot be loaded or does not have this export.
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
      `stages/${stage}.ts cannot be read: ${reason.replaceAll(/\s+/g, ' ')}. Run npx tsc --noEmit to find the error.`,
    );
  }
}

const stagesDirectory = join(import.meta.dirname, '../stages');

/** Loads a module synchronously. An asynchronous import would make every reader of stage values asynchronous. */
const load = createRequire(import.meta.url);
