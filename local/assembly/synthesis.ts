import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { codeOf, StartError } from '../errors.ts';

/** What is synthesised, and how. */
export interface SynthesisRequest {
  /** Directory of the project: of `cdk.json` and `bin/app.ts`. */
  readonly root: string;
  /** Directory of the cloud assembly; it is made. */
  readonly output: string;
  readonly stageValues: Readonly<Record<string, string>>;
  /** Gets everything the app wrote, should it fail. */
  readonly logFile: string;
  readonly signal: AbortSignal;
}

/**
 * Synthesises the CDK app for stage `local`.
 *
 * @throws {StartError} with the app's own reason, in one line.
 */
export async function synthesise({ root, output, stageValues, logFile, signal }: SynthesisRequest): Promise<void> {
  const context = { ...projectContext(root), stage: 'local', ...stageValues };
  const child = spawn(process.execPath, [join(root, 'bin/app.ts')], {
    cwd: root,
    env: { ...process.env, CDK_OUTDIR: output, CDK_CONTEXT_JSON: JSON.stringify(context) },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  const exited = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve));
  const [code, ...written] = await Promise.all([exited, text(child.stderr), text(child.stdout)]);
  if (code === 0) return;
  const said = written.join('');
  writeFileSync(logFile, said);
  throw new StartError(`The CDK app does not synthesise: ${gist(said)} (all of it: ${logFile})`);
}

/** Feature flags and other context of the project; without the CDK's own command line nobody else reads them. */
function projectContext(root: string): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')).context ?? {};
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {};
    throw new StartError('cdk.json cannot be read: it is not JSON.');
  }
}

/** The one line of an app's complaint that says what is wrong. */
function gist(output: string): string {
  const lines = output
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !/^(Node\.js v|at |Bundling asset )/.test(line));
  const telling = /^(✘ \[ERROR\]|\[?[\w«»]*(Error|Validation)[\w»]*\]?:|«\w+»)/;
  return lines.find(line => telling.test(line)) ?? lines[0] ?? 'the app said nothing';
}
