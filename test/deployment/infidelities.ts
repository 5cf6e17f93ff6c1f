// What MiniStack 1.5.33 does otherwise than AWS, as far as it was met. Who takes another version reads this list anew.
//
// | on the emulator | on AWS, and what tells it here |
// |---|---|
// | an export in use may go | the update is refused: an infrastructure test compares the exports of releases |
// | concurrency has no quota | what the account does not have is refused: preflight and an infrastructure test compare |
// | recipients of alarms need not confirm | nothing is sent to an address that did not: a unit test has what `ops status` says |
// | every resource of a changed stack is reported as updated | what an update touched is read from the resources themselves |
// | names of resources repeat | a replaced resource has another: it is told by ids and times of creation |
// | a changed table is another one, and empty | it is changed: protection, a property of it, cannot be switched on here |
// | any credentials do, and no policy is enforced | local runs enforce those of the templates |
// | roles of every account can be assumed | the CDK refuses credentials of another account |
// | the URL of a function leads elsewhere | its host is made to lead to the emulator, in the functions' Internet |
// | an EventBridge rule gives a standard queue no message group | its target names one |

/** Resources that it refuses: all of a type, or those with a property that it cannot read. `emulator.py` has it write them down. */
export const recordedResources: readonly { readonly type: string; readonly property?: string }[] = [
  // Saved queries: only the console of AWS shows them.
  { type: 'AWS::Logs::QueryDefinition' },
  // Alarms on metric math.
  { type: 'AWS::CloudWatch::Alarm', property: 'Metrics' },
];

/** The end-to-end tests that fail for a difference and for nothing else, by file and full name. They must fail. */
export const failing: readonly (readonly [file: string, test: string])[] = [
  // It takes every OPTIONS for a CORS preflight, and answers 403. An HTTP API without CORS hands it to its function.
  ...['token', 'revoke', 'introspect'].map(
    endpoint => ['form-refusals.e2e.test.ts', `what /oauth/v1/${endpoint} refuses method_not_post: OPTIONS`] as const,
  ),
  // Every message has one sender. AWS names the principal that sent it, and so do local runs.
  [
    'rejected-events.e2e.test.ts',
    'a subscription with a filter by sender gets notices of all sessions of a role, and none of another role',
  ],
  // The header of a request and its event name different ids. API Gateway has one, and so do local runs.
  ['requests.e2e.test.ts', 'a refusal has the id of its request in the body, too'],
];
