import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { nouns, runOps } from '../../ops/program.ts';
import type { OpsRuntime } from '../../ops/stage/ops-runtime.ts';

/** The result of an operators' CLI command. */
export interface OpsResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the operators' CLI in this process, which takes a tenth of the time of a new process. */
export async function runOpsInProcess(args: readonly string[], input = '', runtime?: OpsRuntime): Promise<OpsResult> {
  const streams = { stdout: '', stderr: '' };
  const into = (name: keyof typeof streams) => ({
    isTTY: false,
    write: (text: string | Uint8Array) => {
      streams[name] += text;
      return true;
    },
  });
  const stdin = Readable.from(input === '' ? [] : [Buffer.from(input)]);
  const outputs = { stdout: into('stdout'), stderr: into('stderr') };
  const code = await runOps(args, { stdin, ...outputs, ...(runtime && { runtime }) });
  return { code, ...streams };
}

/** Runs a command in this process for the run with these outputs. */
export async function runOpsOn(
  outputs: object,
  args: readonly string[],
  input?: string,
  runtime?: OpsRuntime,
): Promise<OpsResult> {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-ops-'));
  try {
    const file = path.join(folder, 'outputs.json');
    writeFileSync(file, JSON.stringify(outputs));
    return await runOpsInProcess(['--outputs', file, ...args], input, runtime);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Runs a command for the service that an outputs file describes. Returns the parsed `--json` output.
 *
 * @throws if the command fails
 */
export async function runOpsJson<Json>(outputsFile: string, args: readonly string[], input?: string): Promise<Json> {
  return parseOutput(args, await runOpsInProcess(['--outputs', outputsFile, '--json', '--yes', ...args], input));
}

/** Returns the parsed `--json` output of a command. @throws if the command failed */
export function parseOutput<Json>(args: readonly string[], { code, stdout, stderr }: OpsResult): Json {
  if (code !== 0) throw new Error(`ops ${args.slice(0, 2).join(' ')} exited with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Returns the names of the commands that write to the audit log. */
export async function auditedCommands(): Promise<readonly string[]> {
  const loaded = await Promise.all(Object.values(nouns).map(load => load(process)));
  const commands = loaded.flatMap(noun => noun.commands);
  return commands.flatMap(({ name, effect }) => (effect === 'reads' ? [] : [name])).sort();
}
