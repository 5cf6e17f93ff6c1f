import { reads } from '../audit/audit.ts';
import type { Task } from '../stage/target.ts';
import { type Facts, readFacts } from './status-facts.ts';
import { findProblems } from './status-problems.ts';

/** The operators' questions about a whole stage. */
export const actions = { readStatus: reads(readStatus) };

/** The facts, and what needs somebody, with what to do, in sentences. */
export interface Status extends Facts {
  readonly problems: readonly string[];
}

/** Reads what is deployed of a target, how it does, and what needs somebody. It writes nothing, and its reads are bounded. */
async function readStatus({ target, progress }: Task): Promise<Status> {
  const facts = await readFacts(target, progress);
  return { ...facts, problems: findProblems(facts, target.deployed, target.clock.now()) };
}
