import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { isFull } from './test/support/sample.ts';
import { SummaryReporter } from './test/support/summary-reporter.ts';

/** All processors. Vitest leaves one free by default, which is half of two. */
const maxWorkers = availableParallelism();

/** For suites that wait for other programs, for hashes that other threads compute, or for time to pass. */
const waiting = maxWorkers + 1;

/** For suites that wait most of their time: for deployments, browsers, and programs that are built. */
const idle = maxWorkers + 2;

/** Suites share imported modules, which they do not change: separate imports for each suite would cost minutes. */
const isolate = false;

/** The tests that `npm test` omits so that it ends within 3 minutes; the gate runs all. */
const exclude = isFull ? [] : ['**/*.long.*'];

export default defineConfig({
  test: {
    reporters: ['default', new SummaryReporter()],
    // The default of all projects.
    maxWorkers: idle,
    sequence: { sequencer: LongestFirst, groupOrder: 3 },
    expect: { poll: { timeout: 20_000 } }, // real sockets on a busy machine: Vitest's own limit is a second
    projects: [
      // Lint, types and other checks of the whole tree.
      {
        test: {
          name: 'checks',
          include: ['test/checks/*.test.ts'],
          testTimeout: 300_000, // on a busy machine
          maxWorkers: waiting,
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
          testTimeout: 30_000, // hashes and property tests on a busy machine; nothing here measures time
          hookTimeout: 60_000, // some fill a table
          maxWorkers: waiting,
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
          maxWorkers: waiting,
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
          maxWorkers: waiting,
          sequence: { groupOrder: 1 },
        },
      },
      // Worlds of fixed seeds: the service itself in virtual time, with faults.
      {
        test: {
          name: 'world',
          include: ['lab/test/world/*-seeds.test.ts'],
          isolate,
          experimental: { viteModuleRunner: false }, // Node's own imports: what Vite makes of them takes a tenth longer
          testTimeout: 30_000,
          maxWorkers: waiting,
          sequence: { groupOrder: 1 },
        },
      },
      // The tests of the packages and of the laboratory: `.ci/run` runs them, because users of the service do not depend on them.
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
          testTimeout: 120_000, // a world takes seconds, on a busy machine many
        },
      },
      // External programs against a local run: publishers, receivers and API clients in their own languages.
      {
        test: {
          name: 'clients',
          include: ['test/clients/*.test.ts'],
          globalSetup: ['test/support/e2e-run.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      // The OpenAPI documents in external generators, and against the recorded ones: `.ci/run` runs it.
      {
        test: {
          name: 'generators',
          include: ['test/generators/*.test.ts'],
          globalSetup: ['test/support/e2e-run.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      // The pages in a browser, Debian's Chromium: `.ci/run` runs it.
      {
        test: {
          name: 'console',
          include: ['test/console/*.test.ts'],
          globalSetup: ['test/support/e2e-run.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      // The documentation site, built from scratch, in a browser: `.ci/run` runs it.
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
      // Deploys to an emulator of AWS and waits for it: `.ci/run` runs it concurrently with other suites. Each step has its own limit.
      {
        test: {
          name: 'deployment',
          include: ['test/deployment/*.test.ts'],
        },
      },
    ],
  },
});
