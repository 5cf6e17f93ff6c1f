import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Stack } from './assembly/assembly.ts';
import { region } from './assembly/identities.ts';
import type { Resolve } from './assembly/intrinsics.ts';
import { LocalFault, messageOf } from './fault.ts';
import type { Services } from './services.ts';

/** A client with both grants and an admin user, there from the start. */
export interface DemoCredentials {
  readonly ClientId: string;
  readonly ClientSecret: string;
  readonly Username: string;
  readonly Password: string;
  readonly AccountId: string;
}

/** What the outputs file says: all that a program needs in order to use this run. */
export interface RunOutputs {
  readonly AuthUrl: string;
  readonly BaseUrl: string;
  readonly EventsQueueUrl: string;
  readonly DeadLetterQueueUrl: string;
  readonly DynamoDbEndpoint: string;
  readonly SqsEndpoint: string;
  readonly KmsEndpoint: string;
  readonly Region: string;
  readonly ReceiverUrl: string;
  readonly Demo: DemoCredentials;
  /** The stacks' other outputs, such as table names. */
  readonly [other: string]: unknown;
}

/** The outputs of all stacks, resolved; without those that only carry references from stack to stack. */
export const stackOutputs = (stacks: readonly Stack[], resolve: Resolve): Readonly<Record<string, string>> =>
  Object.fromEntries(
    stacks.flatMap(stack =>
      Object.entries(stack.template.Outputs)
        .filter(([, { Export }]) => Export === undefined)
        .map(([name, { Value }]) => [name, String(resolve(Value, stack))]),
    ),
  );

/** An output that the local run cannot do without. @throws {LocalFault} */
export const requiredOutput = (outputs: Readonly<Record<string, string>>, name: string): string => {
  const value = outputs[name];
  if (value === undefined) throw new LocalFault(`The stacks have no output "${name}", which the local run needs.`);
  return value;
};

/** All that a run says about itself. @throws {LocalFault} when the stacks lack an output. */
export const runOutputs = (
  stacks: Readonly<Record<string, string>>,
  { endpoints }: Pick<Services, 'endpoints'>,
  receiverUrl: string,
  demo: DemoCredentials,
): RunOutputs => ({
  ...stacks,
  AuthUrl: requiredOutput(stacks, 'AuthUrl'),
  BaseUrl: requiredOutput(stacks, 'BaseUrl'),
  EventsQueueUrl: requiredOutput(stacks, 'EventsQueueUrl'),
  DeadLetterQueueUrl: requiredOutput(stacks, 'DeadLetterQueueUrl'),
  DynamoDbEndpoint: endpoints.DYNAMODB,
  SqsEndpoint: endpoints.SQS,
  KmsEndpoint: endpoints.KMS,
  Region: region,
  ReceiverUrl: receiverUrl,
  Demo: demo,
});

/**
 * Writes the outputs file, readable by its owner only, since it holds credentials. It appears in one piece.
 *
 * @returns what removes it again, unless another run has written its own there meanwhile.
 * @throws {LocalFault} when it cannot be written.
 */
export const writeOutputs = (file: string, outputs: RunOutputs): (() => void) => {
  const text = `${JSON.stringify(outputs, undefined, 2)}\n`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    throw new LocalFault(`The outputs cannot be written: ${messageOf(error)}`);
  }
  return () => {
    try {
      if (readFileSync(file, 'utf8') === text) rmSync(file);
    } catch {
      // already gone
    }
  };
};
