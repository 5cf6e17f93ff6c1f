import { GetAliasCommand, type LambdaClient, UpdateAliasCommand } from '@aws-sdk/client-lambda';
import { GetParameterCommand, PutParameterCommand, type SSMClient } from '@aws-sdk/client-ssm';
import { writeRecord } from '../../lambdas/platform/deployment/rollback-record.ts';
import { CliError, describeError } from '../stage/operator.ts';
import type { Deployed } from './kept-versions.ts';
import { leadsTo, liveAlias } from './live-functions.ts';
import type { Move } from './rollback-plan.ts';

/**
 * Raises the number of roll-backs past what the versions of functions carry, so that the next deployment publishes a version of every
 * function: CloudFormation may have written the parameter's first value again.
 */
export async function raiseNumber(
  ssm: Pick<SSMClient, 'send'>,
  Name: string,
  functions: readonly Pick<Deployed, 'wants'>[],
): Promise<void> {
  const { Parameter } = await ssm.send(new GetParameterCommand({ Name }));
  const carried = functions.flatMap(({ wants }) => [...wants.values()].map(one => one.environment.ROLLBACK_NUMBER));
  // The digest of tags may follow it.
  const known = [Parameter?.Value, ...carried].map(text => Number(text?.split(' ')[0]) || 0);
  const Value = String(Math.max(...known) + 1);
  await ssm.send(new PutParameterCommand({ Name, Value, Type: 'String', Overwrite: true }));
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
  const attempts = await Promise.all(
    moves.map(async move => {
      const refused = await leadBack(lambda, move, now);
      if (!refused) onMoved(move);
      return refused ? [{ ...refused, name: move.function.name }] : [];
    }),
  );
  const failed = attempts.flat();
  if (failed.length === 0) return;
  throw new CliError(
    `${failed.length} of ${moves.length} functions were not led back: ${failed.map(({ name, reason }) => `${name} (${describeError(reason, 'AWS does not answer')})`).join(', ')}. ${again ? adviceAgain(failed) : 'The same command goes on with them.'}`,
  );
}

/**
 * Leads one alias back. Where that fails the alias is read: the answer may be lost, or somebody else may have made the same move.
 * Returns nothing where the alias leads there now, else the reason.
 */
async function leadBack(lambda: Pick<LambdaClient, 'send'>, { function: one, from, to, takenBack }: Move, now: number) {
  const { functionName: FunctionName, revisionId } = one;
  try {
    await lambda.send(
      new UpdateAliasCommand({
        FunctionName,
        Name: liveAlias,
        FunctionVersion: String(to.version),
        RoutingConfig: { AdditionalVersionWeights: {} },
        Description: writeRecord({ from: takenBack, to: to.version }, now),
        ...(revisionId === undefined ? {} : { RevisionId: revisionId }), // nobody else led it elsewhere meanwhile
      }),
    );
    return undefined;
  } catch (reason) {
    const alias = await lambda.send(new GetAliasCommand({ FunctionName, Name: liveAlias })).catch(() => undefined);
    const { version, sharing, record } = leadsTo(alias ?? {});
    const isMoved = version === to.version && sharing.length === 0 && record?.to === version;
    return isMoved ? undefined : { reason, isLeft: Math.max(version, ...sharing) === from.version };
  }
}

/** With --again and the names of functions that moved, a command would take these one more version back. */
function adviceAgain(failed: readonly { readonly name: string; readonly isLeft: boolean }[]): string {
  const namesOf = (isLeft: boolean) => failed.filter(one => one.isLeft === isLeft).map(({ name }) => name);
  const [left, elsewhere] = [namesOf(true), namesOf(false)];
  return [
    ...(left.length > 0 ? [`Go on with "rollback --again ${left.join(' ')}".`] : []),
    ...(elsewhere.length > 0 ? [`Look first at where ${elsewhere.join(', ')} leads now: "status".`] : []),
  ].join(' ');
}
