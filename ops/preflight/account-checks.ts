import { fewestBesideLanes, receiverConcurrency, unreservedConcurrency } from '../../lib/account-concurrency.ts';
import type { StageConfiguration } from '../../lib/config.ts';
import { lanePlaces } from '../../lib/lane-places.ts';
import { domainsOf, type StackName, stackNameOf, stackNames } from '../stage/stage-stacks.ts';
import { type Check, type Finding, ok, problem, type Subject } from './checks.ts';
import { resourcesOf, type Template } from './synthesis.ts';

/** The checks of all that the account must have before anything is deployed into it. */
export const accountChecks: readonly Check[] = [
  { name: 'concurrency', needs: ['lambda:GetAccountSettings', 'cloudformation:GetTemplate'], check: checkConcurrency },
  { name: 'certificates', needs: ['acm:DescribeCertificate'], check: checkCertificates },
];

/** @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html */
async function checkConcurrency(subject: Subject): Promise<Finding> {
  const { configuration, aws, synthesis } = subject;
  const { stage, accountConcurrency } = configuration;
  const [{ quota, unreserved }, deployed] = await Promise.all([aws.concurrency(), subject.deployedTemplates()]);
  const raise = 'ask AWS for more (Service Quotas, Lambda, "Concurrent executions", L-B99A9384; it takes a day or so)';
  if (quota < accountConcurrency) {
    return problem(
      `stages/${stage}.ts counts on ${accountConcurrency} concurrent executions (accountConcurrency), but the account has ${quota}`,
      `${raise}, or write ${quota} into stages/${stage}.ts`,
    );
  }
  const wanted = reservedBy(Object.values(synthesis.templates));
  const others = quota - unreserved - reservedBy([...deployed.values()]);
  const left = quota - others - wanted;
  const least = Math.min(unreservedConcurrency, quota);
  if (wanted > 0 && left < least) {
    return problem(
      `the stage reserves ${wanted} of ${quota} concurrent executions and other functions ${others}: ${left} would be left, and AWS keeps ${least} unreserved`,
      `${raise}, or lower tokenConcurrency in stages/${stage}.ts (0 reserves nothing)`,
    );
  }
  // The CDK deploys a stack as soon as its assets are there: until the last one is deployed, any may hold its higher value.
  const valuesOf = (name: StackName) =>
    [reservedBy([deployed.get(name) ?? {}]), reservedBy([synthesis.templates[name] ?? {}])] as const;
  const most = stackNames.reduce((sum, name) => sum + Math.max(...valuesOf(name)), 0);
  if (most > reservedBy([...deployed.values()]) && quota - others - most < least) {
    const lowered = stackNames.filter(name => {
      const [now, next] = valuesOf(name);
      return next < now;
    });
    return problem(
      `the stage would reserve ${most} of ${quota} concurrent executions while its stacks are deployed one by one, and other functions ${others}: ${quota - others - most} would be left, and AWS keeps ${least} unreserved`,
      `deploy the stacks with lower values first (npx cdk deploy ${lowered.map(name => stackNameOf(stage, name)).join(' ')} -c stage=${stage}), and the others after that`,
    );
  }
  const { firstConcurrency, retryConcurrency, slowConcurrency } = configuration;
  const lanes = firstConcurrency + retryConcurrency + slowConcurrency;
  if (lanes > left - fewestBesideLanes) {
    return problem(
      `the lanes may take ${lanes} of the ${left} concurrent executions that stay unreserved: too few are left to the sweeper and to the functions that reserve nothing`,
      `${raise}, or lower accountConcurrency in stages/${stage}.ts`,
    );
  }
  return ok(
    `${quota} concurrent executions, of which ${left} stay unreserved${laneAdvice(configuration, quota)}${receiverAdvice(configuration, quota, left)}`,
  );
}

/** A file that states less than the account has keeps the lanes small. */
function laneAdvice({ stage, ...configuration }: StageConfiguration, quota: number): string {
  const possible = lanePlaces(quota);
  const smaller = (['firstConcurrency', 'retryConcurrency', 'slowConcurrency'] as const).some(
    lane => configuration[lane] < possible[lane],
  );
  if (!smaller) return '';
  return `; the lanes are smaller than they could be: write accountConcurrency: ${quota} into stages/${stage}.ts`;
}

/** A file that states less than the account has leaves the receiver's public URL without a limit of its own. */
function receiverAdvice(configuration: StageConfiguration, quota: number, left: number): string {
  const possible = receiverConcurrency({ ...configuration, accountConcurrency: quota }) ?? 0;
  const isReserved = receiverConcurrency(configuration) !== undefined;
  if (isReserved || possible === 0 || left - possible < unreservedConcurrency) return '';
  return `; the receiver of smoke tests reserves nothing, because stages/${configuration.stage}.ts states fewer than the account has, and a flood of requests to its URL would compete with other functions: write accountConcurrency: ${quota} into stages/${configuration.stage}.ts`;
}

function reservedBy(templates: readonly Template[]): number {
  return templates
    .flatMap(template => resourcesOf(template, 'AWS::Lambda::Function'))
    .reduce((sum, [, { Properties }]) => sum + Number(Properties?.ReservedConcurrentExecutions ?? 0), 0);
}

async function checkCertificates({ configuration, aws, region, now }: Subject): Promise<Finding> {
  const wanted = domainsOf(configuration);
  if (wanted.length === 0) return ok('none is needed: the stage has no domains of its own');
  const findings = await Promise.all(
    wanted.map(async ({ name: host, certificateArn: arn }) => {
      if (arn.split(':')[3] !== region) {
        return problem(`the certificate of ${host} is in another Region than ${region}`, `request one in ${region}`);
      }
      const certificate = await aws.certificate(arn);
      if (!certificate) return problem(`there is no certificate ${arn}`, `request one for ${host} in ${region}`);
      const { status, names, notAfter } = certificate;
      if (status !== 'ISSUED') {
        return problem(
          `the certificate of ${host} is ${status}`,
          status === 'PENDING_VALIDATION'
            ? 'add the DNS records that AWS Certificate Manager shows for it, and wait until it is issued'
            : `request another one for ${host} in ${region}`,
        );
      }
      if (!names.some(name => covers(name, host))) {
        return problem(
          `the certificate of ${host} is for ${[...new Set(names)].join(', ')}`,
          `request one for ${host}`,
        );
      }
      if (notAfter !== undefined && notAfter - now < expiresSoon) {
        return problem(
          `the certificate of ${host} ends on ${day(notAfter)}`,
          'AWS renews its own 45 days before (60, if they live 395), as long as their DNS records stand: look at its renewal status. Import others anew',
        );
      }
      return ok(`${host} until ${notAfter === undefined ? '?' : day(notAfter)}`);
    }),
  );
  return worstOf(findings);
}

/** Returns whether a certificate's name, perhaps with a wildcard as its first label, covers a host (RFC 6125 section 6.4.3). */
function covers(name: string, host: string): boolean {
  const lower = name.toLowerCase();
  return lower === host || (lower.startsWith('*.') && lower.slice(1) === host.slice(host.indexOf('.')));
}

/** 30 days, in milliseconds: by then AWS has renewed what it can. */
const expiresSoon = 30 * 86_400_000;

function day(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10);
}

/** Returns all of them in one finding, problems first. */
function worstOf(findings: readonly Finding[]): Finding {
  const problems = findings.filter(({ state }) => state === 'problem');
  if (problems.length === 0) return ok(findings.map(({ text }) => text).join('; '));
  return problem(
    problems.map(({ text }) => text).join('; '),
    [...new Set(problems.flatMap(({ todo }) => todo ?? []))].join('; '),
  );
}
