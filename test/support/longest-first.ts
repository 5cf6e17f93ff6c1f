import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest projects. If they started last, the whole run would wait for them. */
const longest = ['deployment', 'clients', 'lab', 'release', 'checks', 'e2e'];

/** Runs the suites of the slowest projects first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const first = longest.flatMap(name => sorted.filter(({ project }) => project.name === name));
    return [...first, ...sorted.filter(file => !first.includes(file))];
  }
}
