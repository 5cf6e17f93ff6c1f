import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest projects, which start first because the run would otherwise wait for them at the end. */
const slowProjects = ['deployment', 'clients', 'lab', 'release', 'checks', 'e2e'];

export class SlowProjectsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const first = slowProjects.flatMap(name => sorted.filter(({ project }) => project.name === name));
    return [...first, ...sorted.filter(file => !first.includes(file))];
  }
}
