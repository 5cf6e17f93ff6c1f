// The known differences between MiniStack 1.5.33 and AWS. Review this list for each new version.
//
// | On the emulator | On AWS, or in the tests |
// |---|---|
// | Stacks can remove exports in use. | The update fails. An infrastructure test compares the exports of releases. |
// | Concurrency has no quota. | AWS rejects more than the quota. Preflight and an infrastructure test check it. |
// | Alarm recipients need not confirm. | Unconfirmed addresses get no mail. A unit test checks the output of `ops status`. |
// | A changed stack reports all resources as updated. | The tests compare the resources themselves. |
// | A replaced resource keeps its name. | It gets a new name. The tests compare ids and creation times. |
// | A changed table is replaced with an empty table. | AWS updates it. The tests cannot set `protection` to true. |
// | Credentials and policies are not checked. | Local runs enforce the policies of the templates. |
// | Programs can assume roles in any account. | The CDK rejects credentials for other accounts. |
// | The URLs of functions do not resolve. | The emulated Internet maps their hosts to the emulator. |
// | EventBridge rules do not set a message group for a standard queue. | The target sets a message group. |

/** The resources that MiniStack does not support, by type and property. `emulator.py` adds stubs for them. */
export const recordedResources: readonly { readonly type: string; readonly property?: string }[] = [
  // Saved queries are visible only in the AWS console.
  { type: 'AWS::Logs::QueryDefinition' },
  // This property selects alarms with metric math.
  { type: 'AWS::CloudWatch::Alarm', property: 'Metrics' },
];

/** The end-to-end tests that must fail because of these differences, by file and full name. */
export const expectedFailures: readonly (readonly [file: string, test: string])[] = [
  // MiniStack treats every OPTIONS request as a CORS preflight and returns 403. An HTTP API without CORS passes it to the function.
  ...['token', 'revoke', 'introspect'].map(
    endpoint => ['form-errors.e2e.test.ts', `/oauth/v1/${endpoint} rejects method_not_post: OPTIONS`] as const,
  ),
  // Every message has the same sender. On AWS and in local runs, the sender is the principal that sent the message.
  [
    'rejected-events.e2e.test.ts',
    'a subscription with a filter for one role receives only notices about events from that role',
  ],
  // The response header and the event of a request have different ids. API Gateway and local runs use the same id.
  ['requests.e2e.test.ts', 'the body of an error response contains the request id'],
];
