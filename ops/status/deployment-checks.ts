import { ACMClient, DescribeCertificateCommand } from '@aws-sdk/client-acm';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { IAMClient, ListRolesCommand } from '@aws-sdk/client-iam';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { minOtherLanes, unreservedConcurrency } from '../../lib/account-concurrency.ts';
import { hasCustomers } from '../../lib/config.ts';
import { adviceOn, blocksDeployment, isChanging, isDeployed } from '../deployment/stack-states.ts';
import { CliError, isNamed } from '../stage/operator.ts';
import { listed } from '../stage/sentences.ts';
import {
  domainsOf,
  outputsOfStacks,
  type StackName,
  type StageStacks,
  stackNameOf,
  stackNames,
} from '../stage/stage-stacks.ts';
import type { Target } from '../stage/target.ts';
import { resourcesOf, type Synthesis, type Template } from './synthesis.ts';

/** The input of the checks before a deployment, which only read. */
export interface DeploymentSubject {
  readonly target: Pick<Target, 'connect'>;
  readonly deployed: StageStacks;
  /** The result of the deployment. */
  readonly synthesis: Synthesis;
  /** Reads the template of each stack that was ever deployed, except stacks that are left over. */
  readonly readTemplates: () => Promise<ReadonlyMap<StackName, Template>>;
}

/** The problems found, each in a sentence with advice. */
export type DeploymentProblems = readonly string[] | Promise<readonly string[]>;

/** Finds stacks that CloudFormation would not update. */
export function stackProblems({ deployed }: DeploymentSubject): readonly string[] {
  return deployed.stacks.filter(blocksDeployment).flatMap(stack => adviceOn(stack, deployed) ?? []);
}

export async function bootstrapProblems({ target, deployed }: DeploymentSubject): Promise<readonly string[]> {
  try {
    await target.connect(SSMClient).send(new GetParameterCommand({ Name: '/cdk-bootstrap/hnb659fds/version' }));
    return [];
  } catch (error) {
    if (!isNamed(error, 'ParameterNotFound')) throw error;
    const { configuration, region, account } = deployed;
    return [
      `${region} of account ${account} has no CDK bootstrap stack. Run npx cdk bootstrap -c stage=${configuration.stage}.`,
    ];
  }
}

/** @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html */
export async function concurrencyProblems(subject: DeploymentSubject): Promise<readonly string[]> {
  const { target, deployed, synthesis, readTemplates } = subject;
  const { stage, accountConcurrency, firstConcurrency, retryConcurrency, slowConcurrency } = deployed.configuration;
  const { AccountLimit } = await target.connect(LambdaClient).send(new GetAccountSettingsCommand({}));
  const { ConcurrentExecutions: quota, UnreservedConcurrentExecutions: unreserved = quota } = AccountLimit ?? {};
  if (quota === undefined || unreserved === undefined) throw new CliError('Lambda returned no concurrency quota.');
  const raise = 'Ask AWS for more (Service Quotas, Lambda, "Concurrent executions", L-B99A9384; it takes about a day)';
  if (quota < accountConcurrency) {
    return [
      `stages/${stage}.ts sets accountConcurrency to ${accountConcurrency}, but the account has a quota of ${quota} concurrent executions. ${raise}, or set accountConcurrency to ${quota} in stages/${stage}.ts.`,
    ];
  }
  const templates = await readTemplates();
  const held = reservedBy([...templates.values()]);
  const others = quota - unreserved - held;
  const least = Math.min(unreservedConcurrency, quota);
  // The CDK deploys one stack after another. Until the last stack is deployed, any stack may have its higher value.
  const ofStack = (name: StackName) =>
    [templates.get(name), synthesis.templates[name]].map(template => reservedBy([template ?? {}]));
  const peak = stackNames.reduce((sum, name) => sum + Math.max(...ofStack(name)), 0);
  if (peak > held && quota - others - peak < least) {
    return [
      `while its stacks are deployed, the stage reserves up to ${peak} of ${quota} concurrent executions, and other functions reserve ${others}: ${quota - others - peak} would be left, and AWS requires ${least} unreserved. ${raise}, or lower tokenConcurrency in stages/${stage}.ts. To raise one and lower another, deploy the lower value first.`,
    ];
  }
  const left = quota - others - reservedBy(Object.values(synthesis.templates));
  const lanes = firstConcurrency + retryConcurrency + slowConcurrency;
  if (lanes <= left - minOtherLanes) return [];
  return [
    `the lanes may use ${lanes} of the ${left} unreserved concurrent executions: too few are left for the sweeper and for functions without reserved concurrency. ${raise}, or lower accountConcurrency in stages/${stage}.ts.`,
  ];
}

function reservedBy(templates: readonly Template[]): number {
  return templates
    .flatMap(template => resourcesOf(template, 'AWS::Lambda::Function'))
    .reduce((sum, [, { Properties }]) => sum + Number(Properties?.ReservedConcurrentExecutions ?? 0), 0);
}

/** Finds certificates with which API Gateway would reject a domain. */
export async function certificateProblems({ target, deployed }: DeploymentSubject): Promise<readonly string[]> {
  const { configuration, region } = deployed;
  const found = domainsOf(configuration).map(async ({ name: host, certificateArn: arn }) => {
    const request = `Request one for ${host} in ${region}.`;
    if (arn.split(':')[3] !== region)
      return [`the certificate of ${host} is in another Region than ${region}. ${request}`];
    const client = target.connect(ACMClient);
    const answer = await client.send(new DescribeCertificateCommand({ CertificateArn: arn })).catch(error => {
      if (!isNamed(error, 'ResourceNotFoundException')) throw error;
    });
    if (!answer?.Certificate) return [`there is no certificate ${arn}. ${request}`];
    const { Status, DomainName = '', SubjectAlternativeNames = [] } = answer.Certificate;
    if (Status === 'PENDING_VALIDATION') {
      return [
        `the certificate of ${host} is not issued yet. Add the DNS records that AWS Certificate Manager shows for it.`,
      ];
    }
    if (Status !== 'ISSUED') return [`the certificate of ${host} is ${Status}. ${request}`];
    const names = [...new Set([DomainName, ...SubjectAlternativeNames])];
    if (names.some(name => covers(name, host))) return [];
    return [`the certificate of ${host} is for ${listed(names)}. ${request}`];
  });
  return (await Promise.all(found)).flat();
}

/** Returns whether a certificate's name, which may start with a wildcard label, covers a host (RFC 6125 section 6.4.3). */
function covers(name: string, host: string): boolean {
  const lower = name.toLowerCase();
  return lower === host || (lower.startsWith('*.') && lower.slice(1) === host.slice(host.indexOf('.')));
}

/** Finds domains that are missing or changed, because a later change alters every URL and ends every access token. */
export function domainProblems({ deployed: { configuration, stacks } }: DeploymentSubject): readonly string[] {
  const { stage } = configuration;
  const outputs = outputsOfStacks(stacks);
  const missing = apis.filter(({ key }) => configuration[key] === undefined).map(({ key }) => key);
  const changed = apis.filter(({ api, key }) => {
    const url = outputs[`${api}Url`];
    const deployed = outputs[`${api}DomainTarget`] === undefined ? undefined : url;
    return url !== undefined && deployed !== (configuration[key] && `https://${configuration[key].name}`);
  });
  return [
    ...(hasCustomers(configuration) && missing.length > 0
      ? [
          `stages/${stage}.ts does not set ${listed(missing)}. Set them before the first integrator connects: setting a domain later changes the URLs and ends all access tokens.`,
        ]
      : []),
    ...changed.map(
      ({ key }) =>
        `the deployment changes the URL that ${key} names: the stage will reject all access tokens issued so far, and integrators still call the old URL. Restore ${key} in stages/${stage}.ts, unless the stage has no integrators yet.`,
    ),
  ];
}

const apis = [
  { api: 'Auth', key: 'authDomain' },
  { api: 'Base', key: 'baseDomain' },
] as const;

/** Finds protected stacks whose failed first deployment would leave them unable to be updated or deleted. */
export function protectionProblems({ deployed: { configuration, stacks } }: DeploymentSubject): readonly string[] {
  const { stage, protection } = configuration;
  const data = stacks.find(({ name }) => name === 'Data');
  if (!protection || !data || isDeployed(data)) return [];
  return [
    `protection is on before the first deployment of ${data.stackName}: if that fails, CloudFormation cannot delete it. Set protection: false in stages/${stage}.ts and deploy. Then set protection: true and deploy again.`,
  ];
}

/** Finds a stage of another owner, because two people with the same stage name overwrite each other's deployment. */
export function ownerProblems({ deployed: { configuration, stacks } }: DeploymentSubject): readonly string[] {
  const { stage, tags } = configuration;
  const { owner } = tags;
  const owners = stacks.flatMap(({ found }) => found?.Tags?.find(({ Key }) => Key === 'owner')?.Value ?? []);
  const other = owners.find(found => found !== owner);
  if (other === undefined) return [];
  return [
    `stage ${stage} in this account belongs to ${other}, but stages/${stage}.ts names ${owner ?? 'no owner'}. Copy stages/${stage}.ts to a stage of another name, or deploy it if it is the same stage with another owner.`,
  ];
}

/** Finds the stage in other Regions. Roles are visible in all of them and have the function's Region in their path. */
export async function otherRegionProblems({ target, deployed }: DeploymentSubject): Promise<readonly string[]> {
  const { configuration, region } = deployed;
  const command = new ListRolesCommand({ PathPrefix: `/emissor/${configuration.stage}/`, MaxItems: 1_000 });
  const { Roles = [] } = await target.connect(IAMClient).send(command);
  const others = new Set(Roles.map(({ Path = '' }) => Path.split('/')[3] ?? '').filter(found => found !== region));
  if (others.size === 0) return [];
  return [
    `stage ${configuration.stage} is already deployed in ${listed([...others])} of this account. Copy stages/${configuration.stage}.ts to a stage of another name, or delete the other one first.`,
  ];
}

/** Finds data that outlived an earlier stage with the same name. The new stage would start without the data. */
export async function leftOverProblems({ target, deployed }: DeploymentSubject): Promise<readonly string[]> {
  const { configuration, region, stacks } = deployed;
  const { stage, removalPolicy } = configuration;
  if (removalPolicy === 'destroy' || stacks.some(isDeployed) || stacks.some(isChanging)) return [];
  const prefixes = (['Data', 'Delivery'] as const).map(name => `${stackNameOf(stage, name)}-`);
  const names = prefixes.map(async prefix => {
    const [{ TableNames = [] }, { QueueUrls = [] }] = await Promise.all([
      target.connect(DynamoDBClient).send(new ListTablesCommand({ ExclusiveStartTableName: prefix })),
      target.connect(SQSClient).send(new ListQueuesCommand({ QueueNamePrefix: prefix })),
    ]);
    const queues = QueueUrls.map(url => url.slice(url.lastIndexOf('/') + 1));
    return [...TableNames.filter(name => name.startsWith(prefix)), ...queues];
  });
  const own = Object.values(outputsOfStacks(stacks));
  const left = (await Promise.all(names)).flat().filter(name => !own.includes(name));
  if (left.length === 0) return [];
  return [
    `${left.length} tables and queues of an earlier deployment remain (${left[0]}${left.length > 1 ? ', …' : ''}), and the stage would start without their data. If their data is wanted, do not deploy: docs/runbook.md, "Restoring". If not, delete them and the KMS key described as "Emissor ${stage}: …" in ${region}.`,
  ];
}

/** Finds tables, queues and keys that the deployment would remove from a stage that retains its data. */
export async function removedDataProblems(subject: DeploymentSubject): Promise<readonly string[]> {
  const { deployed, synthesis, readTemplates } = subject;
  const { stage, removalPolicy } = deployed.configuration;
  if (removalPolicy === 'destroy') return [];
  const removed = [...(await readTemplates())].flatMap(([name, template]) => {
    const next = synthesis.templates[name] ?? {};
    const kept = resourcesOf(next, ...statefulTypes).map(([id]) => id);
    return resourcesOf(template, ...statefulTypes).flatMap(([id]) =>
      kept.includes(id) ? [] : `${id} of ${stackNameOf(stage, name)}`,
    );
  });
  if (removed.length === 0) return [];
  return [
    `the deployment would remove ${listed(removed)}. npx cdk diff --all -c stage=${stage} shows the change. Keep the resources that hold data.`,
  ];
}

const statefulTypes = ['AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable', 'AWS::KMS::Key', 'AWS::SQS::Queue'];
