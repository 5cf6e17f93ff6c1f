import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { IAMClient, SimulatePrincipalPolicyCommand } from '@aws-sdk/client-iam';
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ownStacks } from '../actions/latest-deployment.ts';
import { listFunctions } from '../actions/live-functions.ts';
import { requireOutput } from '../actions/target.ts';
import { type Check, must, type World } from './check.ts';

/** The check of the conditions in the roles of functions. */
export const permissionChecks: readonly Check[] = [
  {
    name: 'conditions',
    claim:
      'A function opens and lists the keys of the kinds that docs/permissions.md names, and no others: `kms:EncryptionContext:purpose` and `dynamodb:LeadingKeys` hold',
    emulated: 'it has no policy simulator',
    run: checkConditions,
  },
];

const kinds = ['signing', 'mac', 'sealing'];

async function checkConditions({ target, settings, progress }: World): Promise<string> {
  must(target.deployed, 'the stage is not deployed');
  const functions = await listFunctions(target.connect, ownStacks(target.deployed));
  const page = await readFile(path.join(import.meta.dirname, '../../docs/permissions.md'), 'utf8');
  const lambda = new LambdaClient(settings);
  const iam = new IAMClient(settings);
  const keyring = requireOutput(target, 'KeyringTable');
  const { Table } = await new DynamoDBClient(settings).send(new DescribeTableCommand({ TableName: keyring }));
  let asked = 0;

  for (const { name, functionName } of functions) {
    progress(`${asked} decisions; ${name}`);
    const { Role } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName: functionName }));
    const row = page.split('\n').find(line => line.includes(`| ${name} |`)) ?? '';
    const allowed = {
      'kms:Decrypt': namedIn(row, /`kms:Decrypt Key \[purpose: ([^\]]+)\]`/),
      'dynamodb:Query': row.includes('`dynamodb:Query Keyring`')
        ? kinds
        : namedIn(row, /`dynamodb:Query Keyring \[LeadingKeys: ([^\]]+)\]`/),
    };
    for (const [action, may] of Object.entries(allowed)) {
      for (const kind of kinds) {
        const isKey = action === 'kms:Decrypt';
        const { EvaluationResults: [decision] = [] } = await iam.send(
          new SimulatePrincipalPolicyCommand({
            PolicySourceArn: Role,
            ActionNames: [action],
            ResourceArns: [isKey ? requireOutput(target, 'KeyArn') : (Table?.TableArn ?? '')],
            ContextEntries: [
              isKey
                ? entry('kms:EncryptionContext:purpose', 'string', kind)
                : entry('dynamodb:LeadingKeys', 'stringList', kind),
            ],
          }),
        );
        const isAllowed = decision?.EvalDecision === 'allowed';
        must(
          isAllowed === may.includes(kind),
          `${name}: ${action} of ${kind} is ${decision?.EvalDecision}, and docs/permissions.md says ${may.includes(kind) ? 'allowed' : 'denied'}`,
        );
        asked += 1;
      }
    }
  }
  must(asked > 0, 'the stage has no functions');
  return `${asked} decisions of ${functions.length} roles are as docs/permissions.md says`;
}

function namedIn(row: string, form: RegExp): readonly string[] {
  return form.exec(row)?.[1]?.split(', ') ?? [];
}

function entry(ContextKeyName: string, ContextKeyType: 'string' | 'stringList', kind: string) {
  return { ContextKeyName, ContextKeyType, ContextKeyValues: [kind] };
}
