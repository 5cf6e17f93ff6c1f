import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { savedQueries } from '../../lib/saved-queries.ts';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { type AlarmProperties, watchedMetrics } from '../support/cloudwatch/alarm.ts';
import { type EventRule, mailsOf, mailsOfEvent } from '../support/cloudwatch/mail.ts';
import { authDomain, bare, baseDomain, resourcesOf, stageTemplates } from './templates.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const runbook = read('docs/runbook.md');
const alarmsOf = (stage: 'dev' | 'prod') =>
  resourcesOf(stageTemplates(stage), 'AWS::CloudWatch::Alarm').map(([id, { Properties }]) => ({
    id,
    ...(Properties as AlarmProperties & {
      AlarmActions?: unknown;
      OKActions?: unknown;
      InsufficientDataActions?: unknown;
    }),
  }));
const alarms = [...alarmsOf('prod'), ...alarmsOf('dev')];
const partsOf = ({ AlarmDescription }: Pick<AlarmProperties, 'AlarmDescription'>) => {
  const form =
    /^\[(?<severity>page|ticket)(?:: (?:silence|direct))?\] (?<stage>\w+) (?<section>\w+): (?<harm>.+\.) \| First: npm run ops -- --stage \w+ (?<command>.+) \| Then: (?<link>.+)$/;
  return form.exec(AlarmDescription)?.groups ?? {};
};
const named = (alarm: AlarmProperties & { id: string }) => partsOf(alarm).section ?? alarm.id;

describe('the alarms of a stage', () => {
  it.each([
    ['dev', 17],
    ['prod', 44],
  ] as const)('of %s watch at most %d metrics, which cost $0.10 a month each', (stage, most) => {
    expect(alarmsOf(stage).flatMap(watchedMetrics).length).toBeLessThanOrEqual(most);
    expect(resourcesOf(stageTemplates(stage), 'AWS::CloudWatch::CompositeAlarm')).toEqual([]); // half a dollar each
  });

  it('say what users feel, how urgent that is, what to type first, and where to read on', () => {
    for (const alarm of alarms) {
      expect(partsOf(alarm), alarm.AlarmDescription).toMatchObject({ harm: expect.any(String) });
      expect(alarm.AlarmDescription.length).toBeLessThanOrEqual(1_024);
      expect(alarm.AlarmDescription).not.toMatch(/["\\\n<>]/); // they would break the template of the mail
    }
  });

  it('wake nobody for one stolen token, one refused address or one bad login', () => {
    const pages = new Set(alarms.filter(alarm => partsOf(alarm).severity === 'page').map(named));
    expect([...pages].sort()).toEqual([
      'ApiFails',
      'Deferred',
      'EventsStuck',
      'FirstAttemptsLate',
      'InternalErrors',
      'KeyNotEnabled',
      'LoginsFail',
      'LoginsSlow',
      'MailsFail',
      'NothingDelivered',
      'RequestsFail',
      'RequestsThrottled',
      'RetriesLate',
      'SmokeFailed',
      'StoreThrottled',
      'SweepStopped',
    ]);
    const tickets = new Set(alarms.filter(alarm => partsOf(alarm).severity === 'ticket').map(named));
    expect([...tickets].sort()).toEqual([
      'ApiSlow',
      'Blocked',
      'DeadLetters',
      'DiscoveryThrottled',
      'InvalidGrantSurge',
      'KeysNotRotated',
      'RefreshTokenReuse',
      'ReleaseFails',
      'SourceOff',
      'SweepFails',
    ]);
  });

  it('are within what CloudWatch takes', () => {
    for (const alarm of alarms) {
      const periods = alarm.Metrics?.flatMap(({ MetricStat }) => MetricStat?.Period ?? []) ?? [alarm.Period ?? 0];
      const [period = 0, ...others] = new Set(periods);
      expect(others, alarm.id).toEqual([]);
      expect(period * alarm.EvaluationPeriods, alarm.id).toBeLessThanOrEqual(86_400 * (period < 3_600 ? 1 : 7));
      for (const { Expression = '' } of alarm.Metrics ?? []) expect(Expression.length, alarm.id).toBeLessThan(2_048);
    }
  });

  it('count per stage, so that dev does not set off alarms of prod', () => {
    const own = (stage: 'dev' | 'prod') => {
      const namespaces = alarmsOf(stage)
        .flatMap(watchedMetrics)
        .map(({ namespace }) => namespace);
      return new Set(namespaces.filter(name => !name.startsWith('AWS/')));
    };
    expect([...own('dev'), ...own('prod')]).toEqual(['Emissor/dev', 'Emissor/prod']);
  });
});

describe('the runbook', () => {
  const sections = new Map(
    [...runbook.matchAll(/^### (\w+)\n([\s\S]*?)(?=^##)/gm)].map(([, name = '', text = '']) => [name, text]),
  );

  it('has a section for each alarm, and for nothing else that woke you', () => {
    const wanted = [...new Set([...alarms.map(named), 'CertificateExpires'])].sort();
    expect([...sections.keys()].sort()).toEqual(wanted);
    for (const alarm of alarms) expect(partsOf(alarm).link).toBe(`docs/runbook.md#${named(alarm).toLowerCase()}`);
  });

  /** A roll-back mends none of these: the gateway's throttles, one login, key and certificate, a trigger, an address, a topic. */
  const othersFaults = [
    ...['RequestsThrottled', 'DiscoveryThrottled', 'RefreshTokenReuse', 'KeyNotEnabled', 'CertificateExpires'],
    ...['SourceOff', 'Blocked', 'MailsFail'],
  ];
  const afterRelease = `
- Deployed just before (\`ops status\`; stacks at different commits too)? [\`ops rollback\`](#a-bad-version-was-deployed).
`;

  it('asks first what was deployed, and for the roll-back, wherever a bad release may be the cause', () => {
    const asking = [...sections].filter(([, text]) => `\n${text}`.startsWith(afterRelease)).map(([name]) => name);
    expect(asking.sort()).toEqual([...sections.keys()].filter(name => !othersFaults.includes(name)).sort());
  });

  it('goes on in each with the command that the alarm names, and prints commands that the command line understands', async () => {
    const first = new Map([
      ['CertificateExpires', 'status'],
      ...alarms.map(alarm => [named(alarm), partsOf(alarm).command ?? ''] as const),
    ]);
    for (const [name, text] of sections) {
      const commands = [...text.matchAll(/`ops ([^`]+)`/g)].map(([, command = '']) => command);
      expect(commands[othersFaults.includes(name) ? 0 : 2], name).toBe(first.get(name));
      for (const command of commands) {
        const { code, stderr } = await runOpsInProcess([
          '--outputs',
          '/nonexistent.json',
          ...command.replace('EVENT', 'demanda.criada').split(' '),
        ]);
        expect(code, `ops ${command}: ${stderr}`).toBe(1); // understood, and refused for want of a target
      }
    }
  });

  it('leads to the throttled store from each alarm that it rings, too', () => {
    const leading = [...sections].filter(([, text]) =>
      /Look at\s\[`StoreThrottled`\]\(#storethrottled\)\sfirst\./.test(text),
    );
    expect(leading.map(([name]) => name).sort()).toEqual([
      'ApiFails',
      'Deferred',
      'EventsStuck',
      'InternalErrors',
      'LoginsFail',
      'RequestsFail',
      'RetriesLate',
      'SmokeFailed',
      'SweepFails',
      'SweepStopped',
    ]);
  });

  it('names saved queries that exist', () => {
    const queries = Object.entries(savedQueries).flatMap(([area, of]) =>
      Object.keys(of).map(name => `${area}/${name}`),
    );
    for (const text of sections.values())
      for (const [query] of text.matchAll(/(?<=`)(?:auth|webhooks|delivery)\/[a-z ]+(?=`)/g))
        expect(queries).toContain(query);
  });
});

describe('the mails of a stage', () => {
  const { Data } = stageTemplates('prod');
  const ruleIds = resourcesOf(Data, 'AWS::Events::Rule').map(([id]) => id);
  const rules = resourcesOf(Data, 'AWS::Events::Rule').map(([, { Properties }]) => Properties as EventRule);
  const described = (name: string) => alarmsOf('prod').find(alarm => named(alarm) === name)?.AlarmDescription ?? '';
  const topics = (name: string, from: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA', to: 'OK' | 'ALARM') =>
    mailsOf(rules, { description: described(name), from, to }).map(({ topic }) => bare(topic));

  it('go to the topics of their severity when an alarm rings, and, of a page only, when it is over', () => {
    expect(topics('LoginsFail', 'OK', 'ALARM')).toEqual(['Pages']);
    expect(topics('LoginsFail', 'ALARM', 'OK')).toEqual(['Pages']);
    expect(topics('RefreshTokenReuse', 'OK', 'ALARM')).toEqual(['Tickets', 'Operations']);
    expect(topics('RefreshTokenReuse', 'ALARM', 'OK')).toEqual([]);
  });

  // Bug: each new alarm sent a mail, forty at the first deployment and a dozen at each release.
  it('are sent by no deployment: an alarm that never rang has nothing to say', () => {
    for (const { AlarmDescription: description } of alarmsOf('prod'))
      expect(mailsOf(rules, { description, from: 'INSUFFICIENT_DATA', to: 'OK' })).toEqual([]);
    for (const { AlarmActions, OKActions, InsufficientDataActions, ...alarm } of alarms) {
      if (named(alarm) !== 'MailsFail') expect(AlarmActions, alarm.id).toBeUndefined();
      expect([OKActions, InsufficientDataActions], alarm.id).toEqual([undefined, undefined]);
    }
  });

  // Bug: with a wrong policy of a topic a stage was mute, and told nobody.
  it('that a rule cannot send lie on a queue, of which an alarm tells by itself', () => {
    const [[queue], ...others] = resourcesOf(Data, 'AWS::SQS::Queue') as [[string, unknown]];
    expect(others).toEqual([]);
    const arn = { 'Fn::GetAtt': [queue, 'Arn'] };
    for (const { Targets } of rules)
      for (const { DeadLetterConfig } of Targets) expect(DeadLetterConfig).toEqual({ Arn: arn });
    const [[, policy] = []] = resourcesOf(Data, 'AWS::SQS::QueuePolicy');
    const senders = policy?.Properties.PolicyDocument.Statement.filter(
      ({ Effect }: { Effect: string }) => Effect === 'Allow',
    );
    expect(senders).toEqual(
      ruleIds.map(id => ({
        Sid: expect.any(String),
        Effect: 'Allow',
        Action: 'sqs:SendMessage',
        Principal: { Service: 'events.amazonaws.com' },
        Resource: arn,
        Condition: { ArnEquals: { 'aws:SourceArn': { 'Fn::GetAtt': [id, 'Arn'] } } },
      })),
    );

    const alarm = alarmsOf('prod').find(each => named(each) === 'MailsFail');
    expect(alarm?.Dimensions).toEqual([{ Name: 'QueueName', Value: { 'Fn::GetAtt': [queue, 'QueueName'] } }]);
    expect(alarm?.AlarmActions).toEqual([{ Ref: expect.stringMatching(/^Pages/) }]);
    for (const from of ['OK', 'INSUFFICIENT_DATA'] as const) expect(topics('MailsFail', from, 'ALARM')).toEqual([]);
  });

  // Bug: the first deployment paged: nothing had been heard of sweeps and smoke tests yet.
  it('page for no silence before something was heard, nor for its end', () => {
    const silent = alarmsOf('prod').filter(({ TreatMissingData }) => TreatMissingData === 'breaching');
    expect(silent.map(named).sort()).toEqual(['KeysNotRotated', 'SmokeFailed', 'SweepStopped']);
    for (const name of silent.map(named)) {
      expect(topics(name, 'INSUFFICIENT_DATA', 'ALARM'), name).toEqual(['Tickets', 'Operations']);
      expect(topics(name, 'ALARM', 'OK'), name).not.toContain('Pages');
    }
    for (const name of ['SmokeFailed', 'SweepStopped']) {
      expect(topics(name, 'OK', 'ALARM'), name).toEqual(['Pages']);
      expect(topics(name, 'ALARM', 'OK'), name).toEqual(['Tickets', 'Operations']);
    }
    expect(topics('LoginsFail', 'INSUFFICIENT_DATA', 'ALARM')).toEqual(['Pages']); // it does ring for something
  });

  it('are of this stage only', () => {
    const description = described('LoginsFail').replace(' prod ', ' dev ');
    expect(mailsOf(rules, { description, from: 'OK', to: 'ALARM' })).toEqual([]);
  });

  it('tell a person who was never here what users feel, and what to type', () => {
    const [mail] = mailsOf(rules, { description: described('LoginsFail'), from: 'OK', to: 'ALARM' });
    expect(mail?.text.split('\n')).toEqual([
      '"Rings since 2026-11-20T12:11:00.000+0000:"',
      '"[page] prod LoginsFail: Over 5 % of the requests to {auth_url}, or 4 a minute and over 0.2 %, end with 5xx: people cannot log in, or refresh. | First: npm run ops -- --stage prod smoke | Then: docs/runbook.md#loginsfail"',
      expect.stringMatching(/^"CloudWatch says: Threshold Crossed: 3 out of the last 15 datapoints .*"$/),
      '"Alarm Emissor-prod-Auth-AlarmsLoginsFail673988D4-8KVJTbGvMx2Q in sa-east-1, account 111122223333"',
    ]);
  });

  // Bug: where a platform was down that hosts hundreds of receivers, each mailbox got a mail of each, three times over. No filter can
  // hold them back: SNS lets nothing without attributes through one, not even through `exists: false`, and alarms have none.
  it('are all that a mailbox gets: its topics have no other publisher, and its subscriptions no filter', () => {
    const subscriptions = resourcesOf(Data, 'AWS::SNS::Subscription').map(([, { Properties }]) => Properties);
    expect(subscriptions.map(({ TopicArn }) => bare(TopicArn.Ref)).sort()).toEqual(['Pages', 'Tickets']);
    for (const subscription of subscriptions) expect(subscription).not.toHaveProperty('FilterPolicy');
    const permissions = ['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy'].flatMap(type =>
      resourcesOf(stageTemplates('prod'), type),
    );
    expect(JSON.stringify(permissions)).toMatch(/sns:Publish.*Operations/);
    expect(JSON.stringify(permissions)).not.toMatch(/Pages|Tickets/);
  });

  describe('of the stage’s own certificates', () => {
    const certificateArn = authDomain.authDomain.certificateArn;
    const rulesWith = (overrides: object) =>
      resourcesOf(stageTemplates('prod', { ...overrides }).Data, 'AWS::Events::Rule').map(
        ([, { Properties }]) => Properties as EventRule,
      );
    /** As in docs.aws.amazon.com, "Amazon EventBridge support for ACM". */
    const sent = (overrides: object, name: string, detail: object, resource = certificateArn) =>
      mailsOfEvent(rulesWith(overrides), {
        'detail-type': `ACM Certificate ${name}`,
        source: 'aws.acm',
        account: '111122223333',
        region: 'sa-east-1',
        resources: [resource],
        detail: { CommonName: 'auth.emissor.com.br', ...detail },
      });
    const topicOf = (...given: Parameters<typeof sent>) => sent(...given).map(({ topic }) => bare(topic));

    it.each([
      [45, []], // ACM is about to renew it
      [30, ['Tickets', 'Operations']],
      [14, ['Tickets', 'Operations']],
      [7, ['Tickets', 'Operations']],
      [2, ['Tickets', 'Operations']],
      [1, ['Pages']], // of an imported one ACM tells nothing when it has ended
    ])('go out %d days before the end: to %j', (DaysToExpiry, expected) => {
      expect(topicOf(authDomain, 'Approaching Expiration', { DaysToExpiry })).toEqual(expected);
      expect(topicOf(baseDomain, 'Approaching Expiration', { DaysToExpiry })).toEqual(expected);
    });

    it('page when one has ended, and tell what to type', () => {
      const [mail, ...others] = sent({ ...authDomain, ...baseDomain }, 'Expired', { CertificateType: 'AMAZON_ISSUED' });
      expect(others).toEqual([]);
      expect(mail?.topic).toMatch(/^Pages/);
      const [first = '', ...lines] = mail?.text.split('\n').map(line => JSON.parse(line)) ?? [];
      expect(partsOf({ AlarmDescription: first })).toMatchObject({ severity: 'page', section: 'CertificateExpires' });
      expect(lines).toEqual(['ACM Certificate Expired: auth.emissor.com.br', `Certificate ${certificateArn}`]);
    });

    it('are of no other certificate, and of none where the stage has no domain', () => {
      expect(sent(authDomain, 'Expired', {}, `${certificateArn}1`)).toEqual([]);
      expect(sent({}, 'Expired', {})).toEqual([]);
    });
  });

  // EventBridge gives SNS no context that a condition could ask for: with one, every mail would be refused in silence.
  it('may be published: EventBridge without a condition, one alarm of pages, and nobody in the clear', () => {
    const [[mailsFail] = ['']] = resourcesOf(Data, 'AWS::CloudWatch::Alarm');
    for (const [id, { Properties }] of resourcesOf(Data, 'AWS::SNS::TopicPolicy')) {
      const [deny, allow, ...others] = Properties.PolicyDocument.Statement;
      expect(deny, id).toMatchObject({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } });
      expect(allow, id).toMatchObject({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'events.amazonaws.com' },
      });
      expect(allow, id).not.toHaveProperty('Condition');
      const direct = {
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { ArnEquals: { 'aws:SourceArn': { 'Fn::GetAtt': [mailsFail, 'Arn'] } } },
      };
      expect(others, id).toMatchObject(id.startsWith('Pages') ? [direct] : []);
    }
    for (const name of ['OperationsTopicArn', 'PagesTopicArn', 'TicketsTopicArn']) Data.hasOutput(name, {});
  });
});

describe('a failed smoke test', () => {
  // Bug: for a 503 of {base_url} it named an alarm that could not ring, and a query without the cause.
  it('names alarms and saved queries that exist', () => {
    const told = read('lambdas/smoke/smoke-test.ts');
    const queries = Object.entries(savedQueries).flatMap(([area, of]) =>
      Object.keys(of).map(name => `${area}/${name}`),
    );
    const [asked, alarmed] = [told.match(/(?<=")[a-z]+\/[a-z ]+(?=")/g), told.match(/(?<=the alarms? )[A-Z]\w+/g)];
    expect(asked?.length).toBeGreaterThan(2);
    for (const query of asked ?? []) expect(queries).toContain(query);
    expect(alarmed?.length).toBeGreaterThan(1);
    for (const alarm of alarmed ?? []) expect(alarms.map(named)).toContain(alarm);
  });
});
