import type { StageConfiguration } from '../../lib/config.ts';
import { ownStacks } from '../deployment/latest-deployment.ts';
import { isDeployed } from '../deployment/stack-states.ts';
import { outputsOfStacks } from '../stage/stage-stacks.ts';
import { type Check, type Finding, ok, problem, type Subject } from './checks.ts';
import { type Resource, resourcesOf, type Template } from './synthesis.ts';

/**
 * The check of custom domains. A stage that is in use changes its domain in steps, each of which leaves every URL and every token
 * that is in use good: docs/runbook.md, "A custom domain".
 */
export const domainCheck: Check = {
  name: 'custom domains',
  needs: [
    'cloudformation:DescribeStacks',
    'cloudformation:GetTemplate',
    'cloudformation:DescribeStackEvents',
    'cloudformation:ListStackResources',
    'lambda:GetAlias',
  ],
  check: checkDomains,
};

async function checkDomains(subject: Subject): Promise<Finding> {
  const data = (await subject.stacks()).find(({ name }) => name === 'Data');
  if (!data || !isDeployed(data)) return ok('the stage is not there yet: nobody calls it under another name');
  const template = (await subject.deployedTemplates()).get('Data') ?? {};
  const changes = areas.map(area => ({
    area,
    from: deployedDomain(template, area),
    to: nextDomain(subject.configuration, area),
  }));
  const findings = await Promise.all(changes.map(({ area, from, to }) => checkArea(subject, area, from, to)));
  const refused = findings.find(({ state }) => state !== 'ok') ?? judgeTold(subject, outputsOfStacks([data]), changes);
  if (refused) return refused;
  const steps = changes.filter(({ from, to }) => from.role !== to.role);
  const unsettled = steps.length === 0 ? undefined : await judgeFunctions(subject, steps);
  return unsettled ?? ok(findings.map(({ text }) => text).join('; '));
}

/** The domain of an API as it is deployed, and as it is to be. */
interface Change {
  readonly area: Area;
  readonly from: Domain;
  readonly to: Domain;
}

/** Every function must have come as far as the APIs: one that did not would refuse the tokens of the next step. */
async function judgeFunctions(subject: Subject, changes: readonly Change[]): Promise<Finding | undefined> {
  const { configuration, aws } = subject;
  const rolledBack = await aws.rolledBack(ownStacks({ configuration, stacks: await subject.stacks() }));
  if (rolledBack.length > 0) {
    return problem(
      `${rolledBack.map(({ function: name }) => name).join(', ')} ${rolledBack.length === 1 ? 'is' : 'are'} rolled back, to a version that may know other hosts`,
      'deploy what is deployed now once more, corrected, before a domain takes its next step',
    );
  }
  const templates = await subject.deployedTemplates();
  for (const { area, from, to } of changes) {
    for (const [stack, template] of templates) {
      for (const [id, { Properties }] of resourcesOf(template, 'AWS::Lambda::Function')) {
        const value = variablesOf(Properties)[variables[area]];
        const role = value === undefined ? from.role : roleIn(value, from.name ?? to.name ?? '');
        if (role === from.role) continue;
        return problem(
          `the step before was not deployed to its end: for ${id} of stack ${stack} ${from.name ?? to.name} is ${role}, and for API Gateway ${from.role}`,
          `deploy that step again, to its end: ${runbook}`,
        );
      }
    }
  }
  return undefined;
}

/** The variables in which functions get the hosts, the one that names the stage first. */
const variables = { auth: 'ISSUERS', base: 'AUDIENCES' } as const;

function variablesOf(properties: Resource['Properties']): Readonly<Record<string, unknown>> {
  const environment = properties?.Environment as { readonly Variables?: Readonly<Record<string, unknown>> } | undefined;
  return environment?.Variables ?? {};
}

/** Returns the role of a domain in a list of hosts, of which API Gateway's own is a reference to the API. */
function roleIn(value: unknown, name: string): Domain['role'] {
  const text = JSON.stringify(value);
  const [own, gateway] = [text.indexOf(`https://${name}`), text.indexOf('ApiEndpoint')];
  if (own < 0) return 'none';
  if (gateway < 0) return 'only';
  return own < gateway ? 'primary' : 'prepared';
}

/** The day that integrators were told holds: it may come later, and not earlier. */
function judgeTold(
  { configuration, now, yes }: Subject,
  { FormerHostsUntil: told }: Readonly<Record<string, string>>,
  changes: readonly Change[],
): Finding | undefined {
  const { stage, formerHostsUntil = '' } = configuration;
  const hasFormer = changes.some(({ to }) => to.role === 'primary' || to.role === 'former');
  if (yes || !told || !hasFormer || formerHostsUntil >= told || isOver(told, now)) return undefined;
  return problem(
    `integrators were told that the former hosts answer until ${told}, and stages/${stage}.ts says ${formerHostsUntil || 'no day'}`,
    `write formerHostsUntil: '${told}' into it, or a later day. ${withoutIntegrators}`,
  );
}

type Area = (typeof areas)[number];

const areas = ['auth', 'base'] as const;

/** The roles of a domain as it is switched on, one after the other, and those through which it goes the other way. */
const waysOf = { on: ['none', 'prepared', 'primary', 'only'], off: ['none', 'former', 'primary', 'only'] } as const;

interface Domain {
  readonly name: string | undefined;
  readonly role: (typeof waysOf)['on' | 'off'][number];
}

/** A former domain stands where it stood as a prepared one. */
function placeOf(role: Domain['role']): number {
  return role === 'former' ? 1 : waysOf.on.indexOf(role);
}

async function checkArea(subject: Subject, area: Area, from: Domain, to: Domain): Promise<Finding> {
  const { stage } = subject.configuration;
  const url = `{${area}_url}`;
  if (from.name !== to.name && from.name && to.name) {
    return problem(
      `${area}Domain ${from.name} is to become ${to.name}: callers of ${from.name} would get no answer`,
      `take ${from.name} off first, in steps: ${runbook}`,
    );
  }
  const steps = placeOf(to.role) - placeOf(from.role);
  if (steps === 0) return ok(to.name ? `${to.name} is the ${to.role} domain of ${url}` : `${url} has none`);
  const step = `${to.name ?? from.name} goes from ${from.role} to ${to.role}`;
  if (from.role === 'none' && subject.yes) return ok(step);
  const next = waysOf[steps > 0 ? 'on' : 'off'][placeOf(from.role) + Math.sign(steps)];
  if (to.role !== next) {
    const isFar = Math.abs(steps) > 1;
    const harm = isFar ? 'be refused while the deployment runs' : `be told ${steps > 0 ? 'its' : 'no'} end`;
    return problem(
      `${area}Domain ${step}${isFar ? ' at once' : ''}: callers would ${harm}`,
      `write ${to.name ? '' : `${area}Domain: '${from.name}' and its certificate back, and `}${area}DomainRole: '${next}' into stages/${stage}.ts, and deploy that first: ${runbook}${from.role === 'none' ? `. ${withoutIntegrators}` : ''}`,
    );
  }
  if (from.role === 'none' || from.role === 'only') return ok(step);
  if (to.role === 'primary') {
    const refusal = await judgeAnswer(subject, area, to.name ?? '');
    if (refusal) return refusal;
  }
  const isNamedAnew = to.role === 'primary' || to.role === 'former';
  return (isNamedAnew ? judgeNotice(subject, url) : await judgeEnd(subject, url, to)) ?? ok(step);
}

/** The DNS record, the certificate and the mapping must be there before the domain is told to anybody: one request shows all three. */
async function judgeAnswer({ readJson }: Subject, area: Area, name: string): Promise<Finding | undefined> {
  const { path, member } = documents[area];
  const url = `https://${name}${path}`;
  const dnsTodo = `let the DNS record of ${name} lead to the output ${area === 'auth' ? 'Auth' : 'Base'}DomainTarget, and wait until it does`;
  try {
    const document = (await readJson(url)) as Readonly<Record<string, unknown>> | null;
    if (document?.[member] === `https://${name}`) return undefined;
    return problem(`${url} is not answered by this stage`, dnsTodo);
  } catch (error) {
    const { cause = error } = error as { cause?: unknown };
    return problem(`${url} is not answered: ${cause instanceof Error ? cause.message : String(cause)}`, dnsTodo);
  }
}

/** Both metadata documents name the host that they are asked at. */
const documents = {
  auth: { path: '/.well-known/oauth-authorization-server', member: 'issuer' },
  base: { path: '/.well-known/oauth-protected-resource', member: 'resource' },
};

/** The host that names the API now has to answer for another year, and integrators must have been told until when. */
function judgeNotice({ configuration, now, yes }: Subject, url: string): Finding | undefined {
  const { stage, formerHostsUntil } = configuration;
  if (yes || (formerHostsUntil && Date.parse(formerHostsUntil) >= now + year)) return undefined;
  const least = new Date(now + year + day).toISOString().slice(0, 10);
  return problem(
    formerHostsUntil
      ? `${url} changes, and the host before is told to answer until ${formerHostsUntil} only`
      : `${url} changes, and no day is told until which the host before answers`,
    `write it into the change log that integrators read, and into stages/${stage}.ts: formerHostsUntil: '${least}' at the earliest. ${withoutIntegrators}`,
  );
}

/** Returns whether a day has ended: `Sunset` names its last second. */
function isOver(date: string, now: number): boolean {
  return Date.parse(date) + day <= now;
}

/** A host may go when the day that was told is over, and when no token names it. */
async function judgeEnd(subject: Subject, url: string, to: Domain): Promise<Finding | undefined> {
  const { configuration, now, yes } = subject;
  const stacks = await subject.stacks();
  const data = stacks.find(({ name }) => name === 'Data');
  const told = data && outputsOfStacks([data]).FormerHostsUntil;
  // A domain that was prepared and given up was told to nobody.
  const isTold = told !== undefined || to.role === 'only';
  if (!yes && isTold && !(told && isOver(told, now))) {
    return problem(
      told
        ? `the former host of ${url} was told to answer until ${told}`
        : `the former host of ${url} would go, and integrators were told no day`,
      `${told ? 'wait until that day is over (UTC)' : 'write the day into the change log and into formerHostsUntil, deploy, and wait until it is over'}. ${withoutIntegrators}`,
    );
  }
  const ends = stacks.filter(isDeployed).map(({ stackName }) => subject.aws.lastEvent(stackName));
  const issued = Math.max(0, ...(await Promise.all(ends)));
  // Tokens live as long as the functions say that issued them: this deployment may shorten it.
  const functions = resourcesOf((await subject.deployedTemplates()).get('Auth') ?? {}, 'AWS::Lambda::Function');
  const lifetimes = functions.map(([, { Properties }]) => Number(variablesOf(Properties).ACCESS_TOKEN_SECONDS ?? 0));
  const end = issued + Math.max(configuration.accessTokenLifetime, ...lifetimes.map(seconds => seconds * 1_000));
  if (now >= end) return undefined;
  return problem(
    `access tokens that name the former host of ${url} may be in use until ${new Date(end).toISOString()}`,
    'wait until then',
  );
}

function nextDomain(configuration: StageConfiguration, area: Area): Domain {
  const name = configuration[`${area}Domain`];
  return { name, role: name === undefined ? 'none' : configuration[`${area}DomainRole`] };
}

/** Reads the role from a deployed template: which URL it gives out, and whether API Gateway's own host is off. */
function deployedDomain(template: Template, area: Area): Domain {
  const endpoint = area === 'auth' ? 'Auth' : 'Base';
  const find = (type: string, id: string) =>
    resourcesOf(template, type).find(([logicalId]) => logicalId.startsWith(`${endpoint}Endpoint${id}`))?.[1].Properties;
  const name = find('AWS::ApiGatewayV2::DomainName', 'Domain')?.DomainName;
  if (typeof name !== 'string') return { name: undefined, role: 'none' };
  if (find('AWS::ApiGatewayV2::Api', 'Api')?.DisableExecuteApiEndpoint === true) return { name, role: 'only' };
  return { name, role: template.Outputs?.[`${endpoint}Url`]?.Value === `https://${name}` ? 'primary' : 'prepared' };
}

const runbook = 'docs/runbook.md, "A custom domain"';
const withoutIntegrators = 'Where the stage has no integrators yet: --yes';

/** Milliseconds. */
const day = 86_400_000;
const year = 365 * day;
