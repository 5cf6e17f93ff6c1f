/** The outcome of a check. */
export interface Outcome {
  readonly name: string;
  readonly claim: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** The text about it: what was seen, what went wrong, or why it was skipped. */
  readonly text: string;
  readonly seconds: number;
}

/** The circumstances of a run. */
export interface Circumstances {
  readonly stage: string;
  readonly region: string;
  readonly version: string;
  readonly begun: Date;
  readonly isEmulated: boolean;
}

/** Writes the report, in Markdown. It names neither the account nor a host: it may be attached to a public issue. */
export function writeReport(
  outcomes: readonly Outcome[],
  { stage, region, version, begun, isEmulated }: Circumstances,
): string {
  const rows = outcomes.map(
    ({ name, state, seconds, claim }) => `| ${name} | ${state} | ${Math.round(seconds)} s | ${claim} |`,
  );
  const details = outcomes.map(({ name, state, text }) => `## ${name}: ${state}\n${fenced(text)}`);
  return `# The first day: ${countsOf(outcomes)}
Emissor ${version}, stage ${stage} in ${region}, ${begun.toISOString()}${isEmulated ? ', on an emulator of AWS' : ''}.

| check | state | took | what the documents say |
|---|---|---|---|
${rows.join('\n')}

${details.join('\n\n')}
`;
}

/** Returns `12 passed, 1 failed, 0 skipped`. */
export function countsOf(outcomes: readonly Outcome[]): string {
  const count = (wanted: Outcome['state']) => outcomes.filter(({ state }) => state === wanted).length;
  return (['passed', 'failed', 'skipped'] as const).map(state => `${count(state)} ${state}`).join(', ');
}

function fenced(text: string): string {
  const anonymous = text
    .replace(/\b\d{12}\b/g, 'ACCOUNT')
    .replace(/\b[a-z0-9]{10}(?=\.execute-api\.)/g, 'API')
    .replace(/\b[a-z0-9]{20,}(?=\.lambda-url\.)/g, 'FUNCTION');
  return `\`\`\`\n${anonymous.replaceAll('```', "'''")}\n\`\`\``;
}
