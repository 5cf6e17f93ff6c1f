import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The suites that take the longest, or wait the most: begun last, each would keep the whole run waiting. */
const longest = ['deployment', 'clients', 'lab', 'release', 'checks', 'e2e'];

/** Runs the suites of the longest projects before those of the others. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const first = longest.flatMap(name => sorted.filter(({ project }) => project.name === name));
    return [...first, ...sorted.filter(file => !first.includes(file))];
  }
}
