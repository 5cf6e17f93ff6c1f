/** What the emulator does otherwise than AWS. Each is checked to be still there, so that the list never hides more than it says. */
export interface Infidelity {
  readonly name: string;
  readonly why: string;
  /** The end-to-end tests that fail for it and for nothing else, by file and full name. */
  readonly failing?: readonly (readonly [file: string, test: string])[];
}

/** A resource that the emulator only writes down: all of a type, or those with a property that it cannot read. */
export interface RecordedResource {
  readonly type: string;
  readonly property?: string;
}

/** Resources that MiniStack 1.5.33 refuses; `emulator.py` teaches it to write them down. */
export const recordedResources: readonly RecordedResource[] = [
  // Saved queries: nothing but an operator's console reads them.
  { type: 'AWS::Logs::QueryDefinition' },
  // Alarms on metric math. No alarm of the emulator ever rings here.
  { type: 'AWS::CloudWatch::Alarm', property: 'Metrics' },
];

/** The infidelities of MiniStack 1.5.33 that were met. */
export const infidelities: readonly Infidelity[] = [
  {
    name: 'OPTIONS is answered 403',
    why: 'It takes every OPTIONS for a CORS preflight. An HTTP API without CORS hands it to the function like any method.',
    failing: [
      [
        'token-refusals.e2e.test.ts',
        'what the token endpoint refuses method OPTIONS: 405 invalid_request (RFC 9110 15.5.6)',
      ],
    ],
  },
  {
    name: 'Logs Insights ignores a filter on a text',
    why: 'Its queries know `like /pattern/`, and give every line for `like "text"`, as CloudWatch Logs Insights has it, too.',
    failing: [['ops-events.e2e.test.ts', 'ops events find finds what was delivered, by each of its names']],
  },
];
