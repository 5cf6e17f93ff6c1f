import type { StageConfiguration } from '../../lib/config.ts';
import { isDeployed } from '../actions/stack-states.ts';
import type { Check, Subject } from './checks.ts';
import { type Finding, ok, problem } from './finding.ts';
import { resourcesOf, type Template } from './synthesis.ts';

/**
 * The check of custom domains. A stage that is in use changes its domain in steps, each of which leaves every URL and every token
 * that is in use good: docs/runbook.md, "A custom domain".
 */
export const domainCheck: Check = {
  name: 'custom domains',
  needs: ['cloudformation:DescribeStacks', 'cloudformation:GetTemplate'],
  check: checkDomains,
};

async function checkDomains(subject: Subject): Promise<Finding> {
  const data = (await subject.stacks()).find(({ name }) => name === 'Data');
  if (!data || !isDeployed(data)) return ok('the stage is not there yet: nobody calls it under another name');
  const template = (await subject.deployedTemplates()).get('Data') ?? {};
  const findings = await Promise.all(
    areas.map(area =>
      checkArea(subject, area, deployedDomain(template, area), nextDomain(subject.configuration, area)),
    ),
  );
  return findings.find(({ state }) => state !== 'ok') ?? ok(findings.map(({ text }) => text).join('; '));
}

type Area = (typeof areas)[number];

const areas = ['auth', 'base'] as const;

/** What a domain is for, in the order in which it is switched on. Switching it off goes the other way. */
const roles = ['none', 'prepared', 'primary', 'only'] as const;

interface Domain {
  readonly name: string | undefined;
  readonly role: (typeof roles)[number];
}

async function checkArea(subject: Subject, area: Area, from: Domain, to: Domain): Promise<Finding> {
  const { stage } = subject.configuration;
  const url = `{${area}_url}`;
  if (from.name !== to.name && from.name && to.name) {
    return problem(
      `${area}Domain ${from.name} is to become ${to.name}: whoever calls ${from.name} would be cut off`,
      `take ${from.name} off first, in steps: ${runbook}`,
    );
  }
  const steps = roles.indexOf(to.role) - roles.indexOf(from.role);
  if (steps === 0) return ok(to.name ? `${to.name} is the ${to.role} domain of ${url}` : `${url} has none`);
  if (Math.abs(steps) > 1) {
    const next = roles[roles.indexOf(from.role) + Math.sign(steps)];
    return problem(
      `${area}Domain ${to.name ?? from.name} goes from ${from.role} to ${to.role} at once: callers would be refused while the deployment runs`,
      `write ${to.name ? '' : `${area}Domain: '${from.name}' and its certificate back, and `}${area}DomainRole: '${next}' into stages/${stage}.ts, and deploy that first: ${runbook}`,
    );
  }
  const step = `${to.name ?? from.name} goes from ${from.role} to ${to.role}`;
  if (from.role === 'none' || from.role === 'only') return ok(step);
  if (to.role === 'primary') {
    const refusal = await judgeAnswer(subject, area, to.name ?? '');
    if (refusal) return refusal;
  }
  const isNamedAnew = to.role === 'primary' || to.role === 'prepared';
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

/** A host may go when the day that was told has come, and when no token names it. */
async function judgeEnd(subject: Subject, url: string, to: Domain): Promise<Finding | undefined> {
  const { configuration, now, yes } = subject;
  const stacks = await subject.stacks();
  const outputs = stacks.find(({ name }) => name === 'Data')?.found?.Outputs ?? [];
  const told = outputs.find(({ OutputKey }) => OutputKey === 'FormerHostsUntil')?.OutputValue;
  // A domain that was prepared and given up was told to nobody.
  const isTold = told !== undefined || to.role === 'only';
  if (!yes && isTold && !(told && Date.parse(told) <= now)) {
    return problem(
      told
        ? `the former host of ${url} was told to answer until ${told}`
        : `the former host of ${url} would go, and integrators were told no day`,
      `${told ? 'wait' : 'write the day into the change log and into formerHostsUntil, deploy, and wait for it'}. ${withoutIntegrators}`,
    );
  }
  const issued = Math.max(
    ...stacks.map(({ found }) => (found?.LastUpdatedTime ?? found?.CreationTime)?.getTime() ?? 0),
  );
  const end = issued + configuration.accessTokenLifetime;
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
