import { describe, expect, it } from 'vitest';
import { CliError } from '../../../../bin/ops/cli-error.ts';
import { accountOf, requireOwnAccount, type StageStacks, stackNameOf } from '../../../../bin/ops/stage-stacks.ts';
import { requireOutput, type Target } from '../../../../bin/ops/target.ts';
import { stageConfiguration } from '../../../../lib/config.ts';

const account = '111122223333';

const stack = (name: 'Data' | 'Auth', isDeployed: boolean): StageStacks['stacks'][number] => ({
  name,
  stackName: stackNameOf('dev', name),
  found: isDeployed
    ? {
        StackName: stackNameOf('dev', name),
        StackId: `arn:aws:cloudformation:sa-east-1:${account}:stack/${stackNameOf('dev', name)}/1`,
        CreationTime: new Date(0),
        StackStatus: 'CREATE_COMPLETE',
      }
    : undefined,
});

describe('a stage', () => {
  const configuration = stageConfiguration('dev', { account, region: 'sa-east-1' });

  it('is told apart from another account by the ids of its stacks', () => {
    expect(accountOf([stack('Data', false), stack('Auth', true)])).toBe(account);
    expect(accountOf([stack('Data', false)])).toBeUndefined();
    expect(() => requireOwnAccount(configuration, account)).not.toThrow();
    expect(() => requireOwnAccount(configuration, '999999999999')).toThrow(
      new CliError(
        `stage dev is in account ${account} (stages/dev.ts), but these AWS credentials are of account 999999999999: set AWS_PROFILE to a profile of account ${account}.`,
      ),
    );
    expect(() => requireOwnAccount(stageConfiguration('dev'), '999999999999')).not.toThrow();
  });

  it('that is half deployed gives the outputs that are there, and names the stack that is missing', () => {
    const stacks = [stack('Data', true), stack('Auth', false)];
    const target: Target = {
      label: 'stage dev',
      outputs: { ClientsTable: 'clients' },
      unreachable: '',
      deployed: { configuration, region: 'sa-east-1', account, stacks },
    };
    expect(requireOutput(target, 'ClientsTable')).toBe('clients');
    expect(() => requireOutput(target, 'RotateKeysSettings')).toThrow(
      `stage dev is not deployed in sa-east-1 of account ${account}: stack Emissor-dev-Auth is missing`,
    );
  });
});
