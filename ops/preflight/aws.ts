import type { StageConfiguration } from '../../lib/config.ts';
import { findRolledBack, readLiveFunctions } from '../deployment/live-functions.ts';
import { readMailboxes } from '../stage/mailboxes.ts';
import { isNamed } from '../stage/operator.ts';
import { attemptsAtStage, type DeployedStack, describeStacks } from '../stage/stage-stacks.ts';
import type { Connect } from '../stage/world.ts';
import type { Template } from './synthesis.ts';

/** The questions that the checks ask of AWS, in one Region. Nothing here writes. */
export type Aws = ReturnType<typeof connectAws>;

/** The facts that the checks read of a certificate. */
export interface Certificate {
  readonly status: string;
  readonly names: readonly string[];
  /** Milliseconds since the epoch; `undefined` before it is issued. */
  readonly notAfter: number | undefined;
}

/** Connects to AWS with the SDK's usual credentials. Each client is loaded when it is first needed. */
export function connectAws(configuration: StageConfiguration, region: string) {
  const { stage } = configuration;
  const settings = { region, maxAttempts: 3 };
  const connect: Connect = Service => new Service({ ...settings, maxAttempts: attemptsAtStage });
  return {
    caller: async () => {
      const { GetCallerIdentityCommand, STSClient } = await import('@aws-sdk/client-sts');
      const { Account = '', Arn = '' } = await new STSClient(settings).send(new GetCallerIdentityCommand({}));
      return { account: Account, arn: Arn };
    },

    stacks: async (): Promise<readonly DeployedStack[]> => (await describeStacks(configuration, connect)).stacks,

    rolledBack: async (stacks: readonly DeployedStack[]) => findRolledBack(await readLiveFunctions(connect, stacks)),

    /** Returns the template that a stack was last deployed with. */
    deployedTemplate: async (stackName: string) => {
      const { CloudFormationClient, GetTemplateCommand } = await import('@aws-sdk/client-cloudformation');
      const command = new GetTemplateCommand({ StackName: stackName, TemplateStage: 'Original' });
      const { TemplateBody = '' } = await new CloudFormationClient(settings).send(command);
      return JSON.parse(TemplateBody) as Template;
    },

    /** Reads Lambda's concurrent executions: the quota, and how much of it no function has reserved. */
    concurrency: async () => {
      const { GetAccountSettingsCommand, LambdaClient } = await import('@aws-sdk/client-lambda');
      const { AccountLimit } = await new LambdaClient(settings).send(new GetAccountSettingsCommand({}));
      const { ConcurrentExecutions, UnreservedConcurrentExecutions } = AccountLimit ?? {};
      if (ConcurrentExecutions === undefined) throw new Error('Lambda told no quota.');
      return { quota: ConcurrentExecutions, unreserved: UnreservedConcurrentExecutions ?? ConcurrentExecutions };
    },

    /** Reads a certificate; `undefined` where there is none of that ARN. */
    certificate: async (arn: string): Promise<Certificate | undefined> => {
      const { ACMClient, DescribeCertificateCommand } = await import('@aws-sdk/client-acm');
      const answer = new ACMClient(settings).send(new DescribeCertificateCommand({ CertificateArn: arn }));
      const found = (await unlessMissing(answer, 'ResourceNotFoundException'))?.Certificate;
      if (!found) return undefined;
      const { Status = 'unknown', DomainName = '', SubjectAlternativeNames = [], NotAfter } = found;
      return { status: Status, names: [DomainName, ...SubjectAlternativeNames], notAfter: NotAfter?.getTime() };
    },

    /** Lists the Regions in which the stage's functions have roles: roles are known in all of them. */
    regionsOfRoles: async () => {
      const { IAMClient, ListRolesCommand } = await import('@aws-sdk/client-iam');
      const command = new ListRolesCommand({ PathPrefix: `/emissor/${stage}/`, MaxItems: 1_000 });
      const { Roles = [] } = await new IAMClient(settings).send(command);
      return [...new Set(Roles.map(({ Path = '' }) => Path.split('/')[3] ?? ''))];
    },

    /** Lists tables whose names begin so, and whether there may be more: the first 1,000 tables are looked at. */
    tables: async (prefix: string) => {
      const { DynamoDBClient, paginateListTables } = await import('@aws-sdk/client-dynamodb');
      const names: string[] = [];
      let [pages, isCutOff] = [0, false];
      for await (const page of paginateListTables({ client: new DynamoDBClient(settings) }, { Limit: 100 })) {
        names.push(...(page.TableNames ?? []).filter(name => name.startsWith(prefix)));
        isCutOff = page.LastEvaluatedTableName !== undefined;
        pages += 1;
        if (pages === 10) break;
      }
      return { names, isCutOff };
    },

    /** Lists the URLs of the queues that begin so, 1,000 at most. */
    queues: async (prefix: string) => {
      const { ListQueuesCommand, SQSClient } = await import('@aws-sdk/client-sqs');
      const { QueueUrls = [] } = await new SQSClient(settings).send(new ListQueuesCommand({ QueueNamePrefix: prefix }));
      return QueueUrls;
    },

    mailboxes: (topicArn: string) => readMailboxes(connect, topicArn),
  };
}

/** Returns the answer; `undefined` where AWS says that there is no such thing. */
async function unlessMissing<Answer>(answer: Promise<Answer>, errorName: string): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isNamed(error, errorName)) return undefined;
    throw error;
  }
}
