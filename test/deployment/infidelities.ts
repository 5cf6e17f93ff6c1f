import type { Emulator, RecordedResource } from './emulator.ts';
import * as probes from './probes.ts';

/**
 * A difference between the emulator and AWS. Each is still there whenever the tests pass, so that the list hides nothing: its
 * tests fail, or its probe finds it.
 */
export interface Infidelity {
  readonly name: string;
  readonly why: string;
  /** The end-to-end tests that fail for it and for nothing else, by file and full name. */
  readonly failing?: readonly (readonly [file: string, test: string])[];
  /** Returns whether the emulator still has it. */
  readonly isThere?: (emulators: Emulators) => Promise<boolean>;
}

/** The emulator as the stages are tried on it, and what one that enforces IAM makes of policies. */
interface Emulators {
  readonly plain: Emulator;
  readonly judgements: probes.PolicyJudgements;
}

/** Resources that MiniStack 1.5.33 refuses. `emulator.py` has it write them down, and does not start when it knows them. */
export const recordedResources: readonly RecordedResource[] = [
  // Saved queries: only the console of AWS shows them.
  { type: 'AWS::Logs::QueryDefinition' },
  // Alarms on metric math.
  { type: 'AWS::CloudWatch::Alarm', property: 'Metrics' },
  // Gradual releases: without CodeDeploy, an alias leads to its new version at once.
  { type: 'AWS::CodeDeploy::Application' },
  { type: 'AWS::CodeDeploy::DeploymentGroup' },
  // Throttles of routes: functions have stand-ins for the SDK that know no API Gateway, and its gateway throttles nobody.
  { type: 'Custom::RouteThrottle' },
];

/** The infidelities of MiniStack 1.5.33 that were met. */
export const infidelities: readonly Infidelity[] = [
  {
    name: 'OPTIONS is answered 403',
    why: 'It takes every OPTIONS for a CORS preflight. An HTTP API without CORS hands it to its function like any method.',
    failing: ['token', 'revoke', 'introspect'].map(
      endpoint =>
        [
          'form-refusals.e2e.test.ts',
          `what /oauth/v1/${endpoint} refuses method OPTIONS: method_not_post (RFC 9110 15.5.6)`,
        ] as const,
    ),
  },
  {
    name: 'an export in use may go',
    why: 'AWS refuses an update that takes away what another stack imports. An infrastructure test compares the exports of releases.',
    isThere: ({ plain }) => probes.dropsExportInUse(plain),
  },
  {
    name: 'concurrency has no quota',
    why: 'AWS refuses to reserve what the account does not have. Preflight compares, and an infrastructure test does.',
    isThere: ({ plain }) => probes.reservesBeyondQuota(plain),
  },
  {
    name: 'recipients of alarms need not confirm',
    why: 'AWS sends nothing to an address that did not. What preflight says then is a unit test.',
    isThere: ({ plain }) => probes.confirmsSubscriptions(plain),
  },
  {
    name: 'every resource of a changed stack is reported as updated',
    why: 'What an update really touched is therefore read from the resources themselves.',
    isThere: ({ plain }) => probes.reportsEveryResourceUpdated(plain),
  },
  {
    name: 'names of resources repeat',
    why: 'A replaced resource has the name of the old one. Replacement is therefore seen by ids and times of creation.',
    isThere: ({ plain }) => probes.repeatsPhysicalNames(plain),
  },
  {
    name: 'a changed table is another one',
    why: 'Whatever changes of a global table, it is made anew, and empty. Protection, a property of it, can therefore not be switched on here.',
    isThere: ({ plain }) => probes.replacesChangedTables(plain),
  },
  {
    name: 'any credentials do',
    why: 'No policy is enforced, for the three reasons that follow. `enforced-iam.test.ts` corrects these, and local runs enforce policies, too.',
    isThere: ({ plain }) => probes.takesAnyCredentials(plain),
  },
  {
    name: 'roles of every account can be assumed',
    why: 'The CDK refuses credentials of another account on AWS. Here it finds that account empty, and refuses for that.',
    isThere: ({ plain }) => probes.assumesForeignRole(plain),
  },
  {
    name: 'the URL of a function leads elsewhere',
    why: 'It has the host that it would have on AWS. In the functions’ Internet, that host is made to lead to the emulator.',
    isThere: ({ plain }) => probes.givesForeignFunctionUrls(plain),
  },
  {
    name: 'every message has one sender',
    why: 'AWS names the principal that sent it, and so do local runs.',
    failing: [
      [
        'refused-events.e2e.test.ts',
        'a subscription with a filter by sender gets what one publisher sent in all sessions of its role, ten of a minute, and nothing of another',
      ],
    ],
  },
  {
    name: 'a request has two ids',
    why: 'Its header and its event name different ones. API Gateway has one, and so do local runs.',
    failing: [['requests.e2e.test.ts', 'a refusal tells the id of its request in the body, too']],
  },
  {
    name: 'an EventBridge rule gives a standard queue no message group',
    why: 'On AWS a target names one for fair queues, too.',
    isThere: ({ plain }) => probes.dropsMessageGroup(plain),
  },
  {
    name: 'AUTH: sqs:SendMessage does not allow SendMessageBatch',
    why: 'On AWS it does, and there is no action of the other name. Every function that sends would be refused.',
    isThere: async ({ judgements }) => judgements.refusesBatches,
  },
  {
    name: 'AUTH: kms:EncryptionContext is unknown',
    why: 'The policies allow the key for a purpose only. Every function that uses it would be refused.',
    isThere: async ({ judgements }) => judgements.refusesEncryptionContext,
  },
  {
    name: 'AUTH: dynamodb:LeadingKeys is ignored',
    why: 'The keyring of one kind would be open to functions that may read another.',
    isThere: async ({ judgements }) => judgements.ignoresLeadingKeys,
  },
];
