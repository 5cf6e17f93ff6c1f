import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { isFull } from './test/support/sample.ts';
import { SlowProjectsFirst } from './test/support/slow-projects-first.ts';
import { SummaryReporter } from './test/support/summary-reporter.ts';

/** One worker per processor. By default, Vitest leaves one processor free, which is half of a two-core machine. */
const maxWorkers = availableParallelism();

/** The workers for suites that wait for other programs, for hashes in other threads, or for time to pass. */
const waitingWorkers = maxWorkers + 1;

/** The workers for suites that wait most of the time, for deployments, browsers or builds. */
const idleWorkers = maxWorkers + 2;

/** Suites share imported modules, which they do not change. Separate imports for each suite would take minutes. */
const isolate = false;

/** The tests that `npm test` omits to finish within 3 minutes. The gate runs all tests. */
const exclude = isFull ? [] : ['**/*.long.*'];

export default defineConfig({
  test: {
    reporters: ['default', new SummaryReporter()],
    // The default for all projects.
    maxWorkers: idleWorkers,
    sequence: { sequencer: SlowProjectsFirst, groupOrder: 3 },
    expect: { poll: { timeout: 20_000 } }, // for real sockets on a busy machine; Vitest's default is 1 s
    projects: [
      // Checks of the whole tree, such as lint and types.
      {
        test: {
          name: 'checks',
          include: ['test/checks/*.test.ts'],
          testTimeout: 300_000, // on a busy machine
          maxWorkers: waitingWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          exclude,
          globalSetup: ['test/support/database/dynamodb-local.ts'],
          isolate,
          testTimeout: 30_000, // for hashes and property tests on a busy machine
          hookTimeout: 60_000, // some hooks fill a table
          maxWorkers: waitingWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'infra',
          include: ['test/infra/**/*.test.ts'],
          exclude,
          globalSetup: ['test/infra/set-up.ts'],
          isolate,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: waitingWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.e2e.test.ts'],
          exclude,
          globalSetup: ['test/support/e2e-run.ts'],
          setupFiles: ['test/support/contract/set-up.ts'],
          isolate,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: waitingWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      // Simulated worlds with fixed seeds, which run the service in virtual time with faults.
      {
        test: {
          name: 'world',
          include: ['lab/test/world/*-seeds.test.ts'],
          isolate,
          experimental: { viteModuleRunner: false }, // native imports, because Vite's take 10% longer
          testTimeout: 30_000,
          maxWorkers: waitingWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      // Tests of packages/ and lab/. Only `.ci/run` runs them, because the service does not depend on these folders.
      {
        test: {
          name: 'packages',
          include: ['packages/*/test/**/*.test.ts'],
          isolate,
          testTimeout: 30_000,
          maxWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'lab',
          include: ['lab/test/*/**/*.test.ts'],
          exclude: ['lab/test/world/*-seeds.test.ts'],
          isolate,
          experimental: { viteModuleRunner: false }, // as for `world`
          testTimeout: 120_000, // a world takes seconds, and longer on a busy machine
        },
      },
      // External programs against a local run, such as publishers, receivers and API clients in other languages.
      {
        test: {
          name: 'clients',
          include: ['test/clients/*.test.ts'],
          globalSetup: ['test/support/e2e-run.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      // Tests of the OpenAPI documents with external generators and against recorded documents. `.ci/run` runs them.
      {
        test: {
          name: 'generators',
          include: ['test/generators/*.test.ts'],
          globalSetup: ['test/support/e2e-run.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      // Tests of the console in Debian's Chromium. `.ci/run` runs them.
      {
        test: {
          name: 'console',
          include: ['test/console/*.test.ts'],
          globalSetup: ['test/support/e2e-run.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      // Tests of a new build of the documentation site in a browser. `.ci/run` runs them.
      {
        test: {
          name: 'site',
          include: ['test/site/*.test.ts'],
          globalSetup: ['test/site/set-up.ts'],
          isolate,
          testTimeout: 30_000,
          hookTimeout: 120_000,
        },
      },
      // Deployments to an AWS emulator. `.ci/run` runs them concurrently with other suites. Each step has its own timeout.
      {
        test: {
          name: 'deployment',
          include: ['test/deployment/*.test.ts'],
        },
      },
    ],
  },
});
