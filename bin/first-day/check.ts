import type { StageConfiguration } from '../../lib/config.ts';
import type { Target } from '../actions/target.ts';
import type { Workshop } from './workshop.ts';

/** A check of something that no emulator shows. */
export interface Check {
  /** Its name on the command line, in the report and in docs/first-day.md. */
  readonly name: string;
  /** The sentence of the documents that only documentation of AWS supports so far. */
  readonly claim: string;
  /** The reason why it shows nothing on an emulator: it is skipped there. */
  readonly emulated?: string;
  /** Returns what was seen. @throws {CheckFailed} where it is otherwise than claimed. */
  readonly run: (world: World) => Promise<string>;
}

/** All that checks work with. */
export interface World {
  readonly configuration: StageConfiguration;
  readonly target: Target;
  /** The settings of SDK clients. */
  readonly settings: { readonly region: string; readonly maxAttempts: number };
  /** The outputs of the stack of scratch resources. */
  readonly scratch: Readonly<Record<string, string>>;
  readonly workshop: Workshop;
  /** Runs the operator's command line on the stage. @throws with its message where it fails. */
  readonly ops: <Answer>(...words: readonly string[]) => Promise<Answer>;
  readonly progress: (text: string) => void;
}

/** AWS does otherwise than the documents say. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
}

/** @throws {CheckFailed} with the text, unless the condition holds. */
export function must(condition: unknown, otherwise: string): asserts condition {
  if (!condition) throw new CheckFailed(otherwise);
}

/** Asks until there is an answer. @throws {CheckFailed} where there is none in time. */
export async function until<Value>(
  what: string,
  minutes: number,
  ask: () => Promise<Value | undefined>,
): Promise<Value> {
  const { setTimeout: pause } = await import('node:timers/promises');
  for (const deadline = Date.now() + minutes * 60_000; Date.now() < deadline; await pause(3_000)) {
    const answer = await ask();
    if (answer !== undefined) return answer;
  }
  throw new CheckFailed(`${what}: not within ${minutes} minutes`);
}
