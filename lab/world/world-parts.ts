import type { FunctionDefinition, ProcessOutside } from '@emissor/virtual-cloud';
import type { Account, Publication } from './arrival.ts';
import type { Stage } from './stage.ts';

/** What a world may have in place of what its seed says. */
export interface WorldParts {
  readonly accounts?: readonly Account[];
  /** Integrators and operators, and a token for each account. @default true */
  readonly hasPeople?: boolean;
  readonly publications?: readonly Publication[];
  readonly stage?: Partial<Omit<Stage, 'compositions'>>;
  readonly queues?: { readonly isFair: boolean; readonly countLag: number };
  /** Further functions. */
  readonly functions?: (stage: Stage) => readonly FunctionDefinition<ProcessOutside>[];
  /** Without it what happened is not kept, which long runs have no memory for. */
  readonly keepsTrace?: boolean;
}
