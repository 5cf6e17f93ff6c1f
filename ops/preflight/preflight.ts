import type { StageConfiguration } from '../../lib/config.ts';
import { ConfigurationError, type StageName } from '../../lib/stage-files.ts';
import { isDeployed } from '../deployment/stack-states.ts';
import { once } from '../stage/once.ts';
import { describeError, type ShowProgress } from '../stage/operator.ts';
import { isLeftOver } from '../stage/stage-stacks.ts';
import { accountChecks } from './account-checks.ts';
import type { Aws } from './aws.ts';
import { type Check, type Finding, ok, problem, type Subject, unknown } from './checks.ts';
import { domainCheck } from './domain-checks.ts';
import { stageChecks } from './stage-checks.ts';
import type { Synthesis } from './synthesis.ts';

/** The findings about a stage before its deployment. */
export interface Preflight {
  readonly stage: StageName;
  readonly account: string | null;
  readonly region: string | null;
  /** In the order of the checks. After one that the others need, they are missing. */
  readonly findings: readonly (Finding & { readonly check: string })[];
  /** The command to type next; `null` while there are problems. */
  readonly command: string | null;
}

/** The means that a preflight needs. */
export interface PreflightWorld {
  readonly configure: (stage: StageName) => StageConfiguration;
  readonly synthesise: (configuration: StageConfiguration) => Promise<Synthesis>;
  /** The Region that the SDK would use. @throws where there is none. */
  readonly defaultRegion: () => Promise<string>;
  readonly connect: (configuration: StageConfiguration, region: string) => Aws;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The checks that need an account and a synthesised stage, in their order. */
export const checks: readonly Check[] = [...accountChecks, ...stageChecks, domainCheck];

/** Checks a stage before its deployment. It only reads. */
export async function checkStage(stage: StageName, world: PreflightWorld, progress: ShowProgress): Promise<Preflight> {
  const findings: (Finding & { readonly check: string })[] = [];
  const add = (check: string, finding: Finding): boolean => {
    findings.push({ check, ...finding });
    return finding.state === 'ok';
  };
  const result = (account: string | null, region: string | null): Preflight => ({
    stage,
    account,
    region,
    findings,
    command: findings.some(({ state }) => state === 'problem') ? null : `npx cdk deploy --all -c stage=${stage}`,
  });

  progress('Synthesising the stage');
  const file = await readFile(stage, world);
  add('stage file', file.finding);
  if (!file.configuration || !file.synthesis) return result(null, null);
  const { configuration, synthesis } = file;

  progress('Asking who the credentials are');
  const caller = await identify(configuration, world);
  add('credentials', caller.finding);
  if (!caller.aws) return result(null, caller.region);
  const { aws, region, account } = caller;
  if (!add('account', judgeAccount(configuration, account))) return result(account, region);

  const subject = makeSubject({ configuration, synthesis, account, region, aws, now: world.now() });
  for (const { name, needs, check } of checks) {
    progress(`Checking: ${name}`);
    add(name, await attempt(() => check(subject), needs));
  }
  return result(account, region);
}

/** Reads the stage's file and synthesises it: what is wrong in it, a deployment would say too. */
async function readFile(stage: StageName, { configure, synthesise }: PreflightWorld) {
  try {
    const configuration = configure(stage);
    const synthesis = await synthesise(configuration);
    return {
      configuration,
      synthesis,
      finding: ok(`stages/${stage}.ts is complete, and the stage can be synthesised`),
    };
  } catch (error) {
    if (error instanceof ConfigurationError) {
      return {
        finding: problem(
          error.message.replace(`Stage ${stage}: `, ''),
          'lib/stage-values.ts tells what every value means',
        ),
      };
    }
    const message = error instanceof Error ? error.message : String(error);
    return {
      finding: problem(`the stage cannot be synthesised: ${message}`, `npx cdk synth -c stage=${stage} says more`),
    };
  }
}

async function identify(configuration: StageConfiguration, world: PreflightWorld) {
  const { stage, region: own } = configuration;
  let known: string | null = own ?? null;
  try {
    const region = own ?? (await world.defaultRegion());
    known = region;
    const aws = world.connect(configuration, region);
    const { account, arn } = await aws.caller();
    const whose = own ? `the Region of stages/${stage}.ts` : "the credentials' own Region";
    return { region, account, aws, finding: ok(`${arn}, in ${region}, ${whose}`) };
  } catch (error) {
    const unreachable = `nothing answers in ${known}: check the network, and that there is such a Region.`;
    const text = describeError(error, unreachable);
    const file = `stages/${stage}.ts`;
    const todo =
      known === null
        ? `export AWS_REGION=…, or write account and region into ${file}`
        : text === unreachable
          ? `check region in ${file}, and the network`
          : text.includes('multi-factor')
            ? 'type that, and repeat this'
            : `aws sts get-caller-identity --region ${known} must work first`;
    return { region: known, finding: problem(text, todo) };
  }
}

function judgeAccount({ stage, account: own }: StageConfiguration, account: string): Finding {
  if (own === undefined) return ok(`${account}: stages/${stage}.ts names none, so the credentials decide`);
  return account === own
    ? ok(`${account}, as stages/${stage}.ts says`)
    : problem(
        `stage ${stage} is in account ${own} (stages/${stage}.ts), and the credentials are of account ${account}`,
        `set AWS_PROFILE to a profile of account ${own}`,
      );
}

function makeSubject({ aws, ...rest }: Omit<Subject, 'stacks' | 'deployedTemplates'> & { readonly aws: Aws }): Subject {
  const stacks = once(aws.stacks);
  const deployedTemplates = once(async () => {
    const deployed = (await stacks()).filter(stack => isDeployed(stack) && !isLeftOver(stack, rest.configuration));
    return new Map(
      await Promise.all(
        deployed.map(async ({ name, stackName }) => [name, await aws.deployedTemplate(stackName)] as const),
      ),
    );
  });
  return { ...rest, aws, stacks, deployedTemplates };
}

/** Runs a check. An error in it leaves the other checks alone: the finding is then `unknown`. */
async function attempt(check: () => Finding | Promise<Finding>, needs: readonly string[]): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    return unknown(`${describeError(error, 'AWS does not answer')} (it needs ${needs.join(' and ')})`);
  }
}
