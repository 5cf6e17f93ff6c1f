import { runOpsInProcess } from '../../tools/support/ops.ts';
import { until } from './e2e-poll.ts';
import { run } from './e2e-target.ts';

/** A delivery as `ops deliveries show` reports it. */
export interface Delivery {
  readonly state: string;
  readonly attempts: readonly { readonly resultado: string; readonly status: number | null }[];
}

/** Waits until a delivery is neither unknown nor under way. */
export function settled(id: string, limit?: number): Promise<Delivery> {
  return until(
    `the final state of ${id}`,
    async () => {
      const words = ['--outputs', run.outputsFile, '--json', 'deliveries', 'show', id];
      const { code, stdout } = await runOpsInProcess(words);
      const delivery: Delivery | undefined = code === 0 ? JSON.parse(stdout) : undefined;
      return delivery?.state === 'pendente' ? undefined : delivery;
    },
    limit,
    200, // each question is a command: suites that ask more often slow each other down
  );
}
