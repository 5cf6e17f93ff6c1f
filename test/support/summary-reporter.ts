import type { Reporter, TestModule } from 'vitest/node';

/** Prints `N passed, N failed, N skipped` at the end of a run, for programs that read the output. */
export class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state]++;
      counts.failed += module.errors().length;
    }
    counts.failed += unhandled.length;
    process.stdout.write(
      `\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped + counts.pending} skipped\n`,
    );
  }
}
