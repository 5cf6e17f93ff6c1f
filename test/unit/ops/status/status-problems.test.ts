import { describe, expect, it } from 'vitest';
import type { StageStacks } from '../../../../ops/stage/stage-stacks.ts';
import { findProblems } from '../../../../ops/status/checks.ts';
import { reportStatus, type Status } from '../../../../ops/status/status.command.ts';
import { aStage, noStacks } from '../a-stage.ts';

// `ops status` describes each problem in one sentence with advice (contract, section 7).

const now = Date.parse('2026-11-22T00:00:00Z');

const noDeliveries = {
  ...{ read: 0, isCutOff: false, failed: [], held: [], slow: [] },
  late: { groups: [], isCutOff: false },
};

/** Returns the status of a healthy stage with changes. */
const statusOf = ({ stacks, region, account }: StageStacks, changes: Partial<Status> = {}): Status => ({
  ...{ target: 'stage dev', stage: 'dev', region, account, checkout: '0.1.0' },
  stacks: stacks.map(({ name, stackName, found }) => ({
    name: stackName,
    state: found?.StackStatus ?? null,
    version: found ? '0.1.0' : null,
    release: name === 'Data' ? null : 'r1',
    updatedAt: null,
    terminationProtection: found?.EnableTerminationProtection ?? false,
  })),
  ...{ tables: [], throttles: [], certificates: [], movedAliases: [], queues: [], keys: [], problems: [] },
  kmsKey: { arn: 'arn:aws:kms:sa-east-1:111122223333:key/1', state: 'Enabled', deletedAt: null },
  recipients: [{ mail: 'page', address: 'ops@acme.com', state: 'confirmed' }],
  alarms: { total: 28, isCutOff: false, firing: [] },
  webhooks: { read: 0, isCutOff: false, suspended: [], failing: [] },
  deliveries: noDeliveries,
  ...changes,
});

const problems = (deployed: StageStacks, changes: Partial<Status> = {}) =>
  findProblems(statusOf(deployed, changes), deployed, now);

describe('the problems of a stage', () => {
  it('are empty for a healthy stage', () => {
    expect(problems(aStage())).toEqual([]);
  });

  it('include missing stacks', () => {
    const next = 'Run "npm run preflight -- --stage dev", then "npx cdk deploy --all -c stage=dev".';
    expect(problems(aStage({}, noStacks))).toEqual([
      `stage dev is not deployed in sa-east-1 of account 111122223333. ${next}`,
    ]);
    expect(problems(aStage({}, { Webhooks: undefined, Delivery: undefined }))[0]).toBe(
      `stage dev is only partly deployed. Missing: Emissor-dev-Webhooks and Emissor-dev-Delivery. ${next}`,
    );
  });

  it.each([
    [{ version: '0.2.0' }, 'at different versions, 0.1.0 (Emissor-dev-Data, ', ') and 0.2.0 (Emissor-dev-Auth)'],
    [{ release: 'r2' }, 'of different releases, r1 (', ') and r2 (Emissor-dev-Auth)'],
  ])('include stacks with different versions or releases: %j', (ofAuth, start, end) => {
    const [data, auth, ...others] = statusOf(aStage()).stacks ?? [];
    const stacks = [data, ...others, { ...auth, ...ofAuth }] as Status['stacks'];
    const names = 'Emissor-dev-Webhooks, Emissor-dev-Delivery and Emissor-dev-Smoke';
    const next = 'the last deployment is incomplete. Run: npx cdk deploy --all -c stage=dev';
    expect(problems(aStage(), { stacks })).toEqual([`the stacks are ${start}${names}${end}: ${next}`]);
  });

  it.each([
    [
      'moved',
      { version: 1, sharing: [] },
      'Aliases were moved since the last deployment: Discovery (at version 1, deployed 5). For the next deployment, run: npx cdk deploy --all -c stage=dev -c gradual=false -c release=1',
    ],
    [
      'still shifting',
      { version: 5, sharing: [6] },
      'No deployment is in progress, but some of the traffic still goes to another version: Discovery (at version 5 and 6, deployed 5). "npm run ops -- --stage dev rollback" lists the releases, and "npm run ops -- --stage dev rollback RELEASE" sends all traffic to one of them.',
    ],
  ])('include aliases that are %s, unless a deployment is in progress', (_state, versions, problem) => {
    const movedAliases = [{ function: 'Discovery', deployedVersion: 5, ...versions }];
    expect(problems(aStage(), { movedAliases })).toEqual([problem]);
    const deploying = problems(aStage({}, { Auth: { StackStatus: 'UPDATE_IN_PROGRESS' } }), { movedAliases });
    expect(deploying).not.toContain(problem);
  });

  const unread = { unread: 'denied' };
  const first = { isCutOff: true, read: 1, total: 1, firing: [], suspended: [], failing: [] };
  const partly = { alarms: first, webhooks: first, deliveries: { ...noDeliveries, ...first } };
  const manyLate = { ...noDeliveries, late: { groups: [], isCutOff: true } };
  const inParts = ' in the parts that were read.';
  it.each<[Partial<Status>, string]>([
    [{}, '.'],
    [{ queues: unread, keys: unread }, `${inParts} 2 parts could not be read.`],
    [{ queues: unread, ...partly }, `${inParts} 1 part could not be read. 3 parts were read only partly.`],
    [{ deliveries: manyLate }, `${inParts} 1 part was read only partly.`],
  ])('are limited to the parts that were read, and the other parts are counted: %j', (changes, where) => {
    const { text } = reportStatus(statusOf(aStage(), changes));
    expect(text.split('\n').at(-1)).toBe(`No problems found${where}`);
  });

  it.each([
    ['UPDATE_ROLLBACK_COMPLETE', /its last deployment failed and was rolled back/],
    ['ROLLBACK_COMPLETE', /its first deployment failed .* The next deployment deletes it and creates it again\.$/],
    ['UPDATE_ROLLBACK_FAILED', /npx cdk rollback Emissor-dev-Auth -c stage=dev$/],
    ['DELETE_FAILED', /aws cloudformation delete-stack --region sa-east-1 --stack-name Emissor-dev-Auth$/],
    ['UPDATE_IN_PROGRESS', /Wait until it has ended\.$/],
  ] as const)('include a stack in the state %s', (StackStatus, message) => {
    expect(problems(aStage({}, { Auth: { StackStatus } }))).toEqual([expect.stringMatching(message)]);
  });

  it('include a failed first deployment of a protected stack, with the command to unprotect only that stack', () => {
    const Auth = { StackStatus: 'ROLLBACK_COMPLETE', EnableTerminationProtection: true } as const;
    const found = problems(aStage({ removalPolicy: 'retain', protection: true }, { Auth }));
    expect(found[0]).toMatch(
      /because it is protected\. To let the next deployment delete it and create it again, run: aws cloudformation update-termination-protection --no-enable-termination-protection --region sa-east-1 --stack-name Emissor-dev-Auth$/,
    );
    expect(found[0]).not.toContain('stages/dev.ts');
  });

  it('include a stack for smoke tests that the stage file no longer defines', () => {
    const elsewhere = { smokeReceiverUrl: 'https://smoke.emissor.com.br' };
    const orphaned = aStage(elsewhere);
    const stacks = statusOf(orphaned).stacks?.map((view, index) => (index === 4 ? { ...view, version: '0' } : view));
    const advice = [
      expect.stringMatching(
        /^stack Emissor-dev-Smoke is left over: .* "npx cdk destroy --all" would fail at Emissor-dev-Data, .* Run: aws cloudformation delete-stack --region sa-east-1 --stack-name Emissor-dev-Smoke$/,
      ),
    ];
    expect(problems(orphaned, { stacks: stacks ?? null })).toEqual(advice);
    expect(problems(aStage(elsewhere, { Smoke: { StackStatus: 'ROLLBACK_COMPLETE' } }))).toEqual(advice);
    expect(problems(aStage(elsewhere, { Smoke: { EnableTerminationProtection: true } }))[0]).toMatch(
      /Run: aws cloudformation update-termination-protection .*, then: aws cloudformation delete-stack/,
    );
    expect(problems(aStage(elsewhere, { Smoke: { StackStatus: 'DELETE_IN_PROGRESS' } }))[0]).toMatch(/Wait until/);
  });

  it('include unprotected stacks and tables of a stage that retains its data', () => {
    const tables = [
      { name: 'open', indexes: [], deletionProtection: false },
      { name: 'kept', indexes: [], deletionProtection: true },
    ];
    const keeps = { removalPolicy: 'retain' };
    const isProtected = { EnableTerminationProtection: true };
    const allExceptSmoke = { Auth: isProtected, Webhooks: isProtected, Delivery: isProtected }; // Smoke stores no data
    expect(problems(aStage(), { tables })).toEqual([]);
    expect(problems(aStage(keeps, allExceptSmoke), { tables })).toEqual([
      '1 stack and 1 table can be deleted by mistake, because protection is off. Once the first deployment is complete, set protection to true in stages/dev.ts and deploy again.',
    ]);
    expect(problems(aStage({ ...keeps, protection: true }, allExceptSmoke), { tables })[0]).toMatch(
      /stages\/dev\.ts sets protection: true\. Run "npx cdk deploy/,
    );
  });

  it('include queues that are behind because of slow receivers or a stopped consumer', () => {
    const queue = { waiting: 1, delayed: 0, oldestSeconds: 301 };
    const found = problems(aStage(), {
      queues: [
        { ...queue, queue: 'events', waiting: 40, inFlight: 3 },
        { ...queue, queue: 'retry', inFlight: 0 },
        { ...queue, queue: 'slow', inFlight: 0, oldestSeconds: 300 },
      ],
    });
    expect(found).toEqual([
      '40 messages wait in the events queue, 3 are in flight, the oldest for 301 s. "npm run ops -- --stage dev webhooks list --slow" shows the slow receivers.',
      '1 message waits in the retry queue, none is in flight, the oldest for 301 s. Check that the consumer of the queue runs. See docs/runbook.md, "EventsStuck".',
    ]);
  });

  it.each([
    ['events', { waiting: 50_000, inFlight: 400, oldestSeconds: 240 }, true],
    ['events', { waiting: 900, inFlight: 100, oldestSeconds: 0 }, true], // SQS no longer reports the age of a message that was received often
    ['events', { waiting: 0, inFlight: 3, oldestSeconds: 301 }, true],
    ['events', { waiting: 0, inFlight: 0, oldestSeconds: 301 }, false], // the age is outdated
    ['events', { waiting: 24, inFlight: 900, oldestSeconds: 300 }, false], // a busy stage
    ['retry', { waiting: 0, inFlight: 9_000, oldestSeconds: 7_200 }, true],
    ['slow', { waiting: 0, inFlight: 60, oldestSeconds: 900 }, false], // normal for slow receivers
    ['slow', { waiting: 20, inFlight: 5, oldestSeconds: null }, true],
  ])('include queues that are behind by count or age: %s %o', (queue, depth, isBehind) => {
    const found = problems(aStage(), { queues: [{ queue, delayed: 0, ...depth }] });
    expect(found).toHaveLength(isBehind ? 1 : 0);
  });

  it('include recipients who do not receive pages or tickets', () => {
    const one = { mail: 'page', address: 'ana@acme.com', state: 'not confirmed' } as const;
    const other = { ...one, address: 'bia@acme.com', state: 'not subscribed' } as const;
    const ticket = { ...other, mail: 'ticket' } as const;
    const recipients = [one, other, { ...ticket, address: 'eva@acme.com', state: 'confirmed' } as const, ticket];
    const next = '. See docs/runbook.md, "A recipient who never confirmed".';
    expect(problems(aStage(), { recipients })).toEqual([
      `pages do not reach ana@acme.com (not confirmed) and bia@acme.com (not subscribed)${next}`,
      `tickets do not reach bia@acme.com (not subscribed)${next}`,
    ]);
    const { text } = reportStatus(statusOf(aStage(), { recipients }));
    expect(text).toMatch(/^Alarm recipients\npages +ana@acme\.com: not confirmed$/m);
  });

  it('include firing alarms, dead-letter messages, and missing or overdue keys', () => {
    const firing = [{ name: 'a', since: null, description: '' }];
    const key = { kind: 'mac', keys: 1, activeSince: '2026-01-01T00:00:00Z', nextActiveFrom: null } as const;
    expect(
      problems(aStage(), {
        alarms: { total: 2, isCutOff: false, firing },
        queues: [{ queue: 'dead letters', waiting: 1, inFlight: 1, delayed: 0, oldestSeconds: 5 }],
        keys: [
          { ...key, kind: 'signing', activeSince: null, nextCreatedAt: null },
          { ...key, nextCreatedAt: '2026-11-20T21:00:00Z' },
          { ...key, kind: 'encryption', nextCreatedAt: '2026-11-21T21:00:00Z' },
        ],
      }),
    ).toEqual([
      expect.stringMatching(/^1 alarm is firing/),
      '2 dead-letter messages. "npm run ops -- --stage dev dlq list" shows the reasons.',
      expect.stringMatching(/^there is no signing key.* "npm run ops -- --stage dev keys rotate" creates the key/),
      expect.stringMatching(/^the next mac key has been due since 2026-11-20T21:00:00Z/),
    ]);
  });
});
