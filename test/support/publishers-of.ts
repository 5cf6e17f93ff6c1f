import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { EventFormat } from '../../lambdas/delivery/intake/event-format.ts';
import { publisherSources } from '../../tools/openapi/publisher-sources.ts';

/** What a publisher says of a message: what is wrong with it, or the body that it would send. */
export interface Judgement {
  readonly findings: readonly { readonly field: string; readonly reason: string }[];
  readonly body?: string;
}

/** Both publishers, with other events than those of the product. */
export interface Publishers {
  /** Judges messages, each by itself. */
  readonly typescript: (messages: readonly unknown[]) => Promise<readonly Judgement[]>;
  readonly python: (messages: readonly unknown[]) => Promise<readonly Judgement[]>;
  /** Whether there is a Python that the publisher runs on. */
  readonly hasPython: boolean;
  /** Returns what a Python program prints that may import `emissor_publisher.events`. */
  readonly runPython: (program: string) => Promise<string>;
  readonly remove: () => void;
}

/**
 * Makes both publishers of a catalogue: what is generated of it beside the modules of the packages that judge a message and make
 * its body. They need Node.js and Python, and nothing that is installed.
 */
export function makePublishersOf(events: EventFormat): Publishers {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-publishers-'));
  for (const [file, source] of [
    ...publisherSources(events),
    ['packages/publisher/python/src/emissor_publisher/__init__.py', ''],
  ] as const) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), source);
  }
  for (const file of judging) copyFileSync(path.join(root, file), path.join(folder, file));
  const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status === 0;
  return { typescript, python, hasPython, runPython, remove: () => rmSync(folder, { recursive: true }) };

  async function typescript(messages: readonly unknown[]) {
    const args = ['--input-type=module', '--eval', typescriptProgram];
    return JSON.parse(await run(process.execPath, args, 'packages/publisher/src', messages));
  }

  async function python(messages: readonly unknown[]) {
    return JSON.parse(await run('python3', ['-c', pythonProgram], 'packages/publisher/python/src', messages));
  }

  function runPython(program: string): Promise<string> {
    return run('python3', ['-c', program], 'packages/publisher/python/src', []);
  }

  async function run(command: string, args: readonly string[], cwd: string, messages: readonly unknown[]) {
    const done = promisify(execFile)(command, args, { cwd: path.join(folder, cwd), maxBuffer: 1 << 26 });
    done.child.stdin?.end(JSON.stringify(messages));
    return (await done).stdout;
  }
}

const root = path.join(import.meta.dirname, '../..');

const judging = [
  'packages/publisher/src/findings.ts',
  'packages/publisher/src/message.ts',
  'packages/publisher/python/src/emissor_publisher/findings.py',
  'packages/publisher/python/src/emissor_publisher/message.py',
];

const typescriptProgram = `
import { readFileSync } from 'node:fs';
import { findingsOf } from './findings.ts';
import { messageOf } from './message.ts';
const judge = message => {
  const findings = findingsOf(message);
  return findings.length > 0 ? { findings } : { findings, body: messageOf(message, 0, () => 'made').body };
};
console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(judge)));
`;

const pythonProgram = `
import json, sys
from emissor_publisher.findings import findings_of
from emissor_publisher.message import message_of

def judge(message):
    findings = [vars(finding) for finding in findings_of(message)]
    return {"findings": findings} if findings else {"findings": [], "body": message_of(message, 0, lambda: "made").body}

print(json.dumps([judge(message) for message in json.load(sys.stdin)]))
`;
