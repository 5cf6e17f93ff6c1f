import { type LambdaClient, UpdateAliasCommand } from '@aws-sdk/client-lambda';
import { GetParameterCommand, PutParameterCommand, type SSMClient } from '@aws-sdk/client-ssm';
import { writeRecord } from '../../lambdas/platform/deployment/rollback-record.ts';
import { CliError, describeError } from '../stage/operator.ts';
import { liveAlias } from './live-functions.ts';
import type { Move } from './rollback-plan.ts';

/** Raises the number of roll-backs, so that the next deployment publishes a version of every function. */
export async function raiseNumber(ssm: Pick<SSMClient, 'send'>, Name: string): Promise<void> {
  const { Parameter } = await ssm.send(new GetParameterCommand({ Name }));
  const next = (Number(Parameter?.Value) || 0) + 1;
  await ssm.send(new PutParameterCommand({ Name, Value: String(next), Type: 'String', Overwrite: true }));
}

/**
 * Leads aliases to the versions of a plan, all at once, and takes the weights from them.
 *
 * @throws {CliError} that tells which of them were not led there.
 */
export async function moveAll(
  lambda: Pick<LambdaClient, 'send'>,
  moves: readonly Move[],
  { again, now, onMoved }: { readonly again: boolean; readonly now: number; readonly onMoved: (move: Move) => void },
): Promise<void> {
  const results = await Promise.allSettled(
    moves.map(async move => {
      const { functionName, revisionId } = move.function;
      await lambda.send(
        new UpdateAliasCommand({
          FunctionName: functionName,
          Name: liveAlias,
          FunctionVersion: String(move.to.version),
          RoutingConfig: { AdditionalVersionWeights: {} },
          Description: writeRecord({ from: move.takenBack, to: move.to.version }, now),
          ...(revisionId === undefined ? {} : { RevisionId: revisionId }), // nobody else led it elsewhere meanwhile
        }),
      );
      onMoved(move);
    }),
  );
  const failed = results.flatMap((result, index) =>
    result.status === 'rejected' ? [{ name: moves[index]?.function.name, reason: result.reason as unknown }] : [],
  );
  if (failed.length === 0) return;
  const names = failed.map(({ name }) => name).join(' ');
  // With --again and their names, the same command would take those that moved one more version back.
  const next = again ? `Go on with "rollback --again ${names}".` : 'The same command goes on with them.';
  throw new CliError(
    `${failed.length} of ${moves.length} functions were not led back: ${failed.map(({ name, reason }) => `${name} (${describeError(reason, 'AWS does not answer')})`).join(', ')}. ${next}`,
  );
}
