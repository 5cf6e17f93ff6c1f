import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './test/support/summary-reporter.ts';

/** Vitest keeps one processor free; on two that is half of them. */
const maxWorkers = availableParallelism();

export default defineConfig({
  test: {
    reporters: ['default', new SummaryReporter()],
    projects: [
      {
        // The suites share what they import: none changes a module, and importing it anew for each costs a minute.
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          isolate: false,
          testTimeout: 30_000, // hashes and property tests on a busy machine; nothing here measures time
          maxWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'infra',
          include: ['test/infra/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.e2e.test.ts'],
          globalSetup: ['test/support/e2e-run.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // The suites mostly wait for the run under test, and start when the other projects have left it the machine.
          maxWorkers: 4,
          sequence: { groupOrder: 2 },
        },
      },
      // Local runs of its own, with the machine to themselves.
      { test: { name: 'chaos', include: ['test/e2e/chaos.test.ts'], sequence: { groupOrder: 3 } } },
    ],
  },
});
