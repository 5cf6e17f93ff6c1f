import type { CdkApp } from './assembly/assembly.ts';
import type { Site } from './internet/internet.ts';
import type { RunOutputs } from './outputs.ts';
import type { ServicePorts } from './services.ts';
import type { Terminal } from './terminal.ts';

export interface LocalCloudRequest<Extra extends object = object> {
  /** The CDK app to synthesise, or the directory of the cloud assembly that it was synthesised to. */
  readonly app: CdkApp | { readonly assemblyDirectory: string };
  /**
   * The port of each HTTP API, by the name of the output that is its endpoint; 0 takes any free one. Every HTTP API of the
   * template must be here.
   */
  readonly apis: Readonly<Record<string, number>>;
  /** The place where queues and tables listen. @default - on any free ports */
  readonly ports?: ServicePorts;
  /** Servers of the program itself behind public names. @default - none */
  readonly sites?: readonly Site[];
  /** Public host name -> port of a plain HTTP server on 127.0.0.1. @default - none */
  readonly mappings?: ReadonlyMap<string, number>;
  /** File with more names, read again whenever it changes. @default - none */
  readonly hostsFile?: string;
  /** File with the faults to inject, read again whenever it changes. @default - none */
  readonly faultsFile?: string;
  /** Keeps tables, queues and keys across restarts. @default - in memory */
  readonly dataDirectory?: string;
  /** Has the files of the run, and `synthesis.log` when the app does not synthesise. */
  readonly workDirectory: string;
  /** Has the outputs while the cloud is up. @default - none */
  readonly outputsFile?: string;
  readonly terminal: Terminal;
  /** Cancels a start that is still in progress. @default - none */
  readonly signal?: AbortSignal;
  /**
   * Called once, when everything is deployed and no request, message or schedule has been let in.
   *
   * @returns further outputs
   */
  afterDeployment?(outputs: RunOutputs): Promise<Extra>;
}
