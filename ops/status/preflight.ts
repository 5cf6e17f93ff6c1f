import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import type { StageConfiguration } from '../../lib/config.ts';
import { isDeployed } from '../deployment/stack-states.ts';
import { once } from '../stage/once.ts';
import { CliError, describeError, type ShowProgress } from '../stage/operator.ts';
import { isLeftOver } from '../stage/stage-stacks.ts';
import type { Target } from '../stage/target.ts';
import { checks } from './checks.ts';
import { readMovedAliases } from './status-facts.ts';
import type { Synthesis, Template } from './synthesis.ts';

/** The problems that would make a stage deployment fail or lose data. */
export interface Preflight {
  readonly stage: string;
  readonly account: string;
  readonly region: string;
  readonly problems: readonly Finding[];
  /** The checks that could not run, with the reasons. */
  readonly unread: readonly Finding[];
}

interface Finding {
  readonly check: string;
  readonly sentence: string;
}

/** Runs all checks before a deployment. The checks only read. @throws {CliError} if the stage cannot be synthesised. */
export async function findBeforeDeployment(
  target: Target,
  synthesise: (configuration: StageConfiguration) => Promise<Synthesis>,
  progress: ShowProgress,
): Promise<Preflight> {
  const { deployed } = target;
  if (!deployed) throw new CliError('A local run is not deployed. Specify a stage with --stage.');
  const { configuration, account, region } = deployed;
  const { stage } = configuration;
  progress('Synthesising the stage');
  const synthesis = await synthesise(configuration).catch(error => {
    throw new CliError(
      `Could not synthesise stage ${stage} (${error instanceof Error ? error.message : String(error)}). For details, run: npx cdk synth -c stage=${stage}`,
    );
  });
  const readTemplates = once(async () => {
    const stacks = deployed.stacks.filter(stack => isDeployed(stack) && !isLeftOver(stack, configuration));
    const read = stacks.map(async ({ name, stackName }) => [name, await readTemplate(target, stackName)] as const);
    return new Map(await Promise.all(read));
  });
  const readShared = once(async () => ({ facts: { movedAliases: await readMovedAliases(target) }, deployed }));
  const [problems, unread]: [Finding[], Finding[]] = [[], []];
  for (const check of checks) {
    if (check.when === 'status') continue;
    progress(`Checking: ${check.name}`);
    try {
      const sentences =
        check.when === 'both'
          ? check.find(await readShared())
          : await check.find({ target, deployed, synthesis, readTemplates });
      problems.push(...sentences.map(sentence => ({ check: check.name, sentence })));
    } catch (error) {
      unread.push({ check: check.name, sentence: describeError(error, target.unreachable) });
    }
  }
  return { stage, account, region, problems, unread };
}

/** Reads the template of a stack's last deployment. */
async function readTemplate(target: Target, StackName: string): Promise<Template> {
  const command = new GetTemplateCommand({ StackName, TemplateStage: 'Original' });
  const { TemplateBody = '{}' } = await target.connect(CloudFormationClient).send(command);
  return JSON.parse(TemplateBody);
}
