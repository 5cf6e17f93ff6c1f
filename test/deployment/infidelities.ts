// The known differences of MiniStack 1.5.33 from AWS. Review this list for each new version.
//
// | on the emulator | on AWS, and the test for it |
// |---|---|
// | an export in use can be removed | the update fails: an infrastructure test compares the exports of releases |
// | concurrency has no quota | more than the quota is rejected: preflight and an infrastructure test compare |
// | recipients of alarms need not confirm | an unconfirmed address gets no mail: a unit test has the output of `ops status` |
// | every resource of a changed stack is reported as updated | the tests compare the resources themselves |
// | names of resources repeat | a replaced resource has a new name: the tests compare ids and creation times |
// | a changed table is replaced by an empty one | it is updated: the tests cannot switch on protection |
// | credentials and policies are not checked | local runs enforce the policies of the templates |
// | roles of every account can be assumed | the CDK rejects credentials of another account |
// | the URL of a function does not resolve | the functions' Internet maps its host to the emulator |
// | an EventBridge rule gives a standard queue no message group | its target names one |

/** The resources that MiniStack rejects, by type, or by a property that it cannot read. `emulator.py` records them. */
export const recordedResources: readonly { readonly type: string; readonly property?: string }[] = [
  // Only the AWS console shows saved queries.
  { type: 'AWS::Logs::QueryDefinition' },
  // Alarms on metric math.
  { type: 'AWS::CloudWatch::Alarm', property: 'Metrics' },
];

/** The end-to-end tests that must fail because of a difference, by file and full name. */
export const failing: readonly (readonly [file: string, test: string])[] = [
  // MiniStack treats every OPTIONS as a CORS preflight with status 403. An HTTP API without CORS passes it on.
  ...['token', 'revoke', 'introspect'].map(
    endpoint => ['form-refusals.e2e.test.ts', `/oauth/v1/${endpoint} refuses method_not_post: OPTIONS`] as const,
  ),
  // Every message has the same sender. AWS and local runs name the principal that sent it.
  [
    'rejected-events.e2e.test.ts',
    'a subscription with a filter by sender receives the notices of all sessions of that role only',
  ],
  // The header and the event of a request have different ids. API Gateway and local runs use one id.
  ['requests.e2e.test.ts', 'a refusal has its request id also in the body'],
];
