import type { StageConfiguration } from '../../lib/config.ts';
import type { DeployedStack } from '../stage/stage-stacks.ts';
import type { Aws } from './aws.ts';
import type { Synthesis, Template } from './synthesis.ts';

/** The subject of the checks. A value from AWS is read when it is first asked for, and once. */
export interface Subject {
  readonly configuration: StageConfiguration;
  readonly account: string;
  readonly region: string;
  readonly synthesis: Synthesis;
  readonly stacks: () => Promise<readonly DeployedStack[]>;
  /** The template of each stack that was ever deployed, but for those that are left over. */
  readonly deployedTemplates: () => Promise<ReadonlyMap<DeployedStack['name'], Template>>;
  readonly aws: Omit<Aws, 'caller' | 'stacks' | 'deployedTemplate'>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface Check {
  readonly name: string;
  /** The permissions that it needs. */
  readonly needs: readonly string[];
  readonly check: (subject: Subject) => Finding | Promise<Finding>;
}

/** The result of one check. `unknown`: it could not be checked, and the text says why. */
export interface Finding {
  readonly state: 'ok' | 'problem' | 'unknown';
  readonly text: string;
  /** The operator's next step about a problem. */
  readonly todo?: string;
}

export function ok(text: string): Finding {
  return { state: 'ok', text };
}

export function problem(text: string, todo: string): Finding {
  return { state: 'problem', text, todo };
}

export function unknown(text: string): Finding {
  return { state: 'unknown', text };
}
