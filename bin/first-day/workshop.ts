import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A copy of this tree, from which changed versions of the stage are deployed. */
export interface Workshop {
  /**
   * Deploys the stage with one text of a file replaced, and with values of the stage tried by `-c`. The copy is as before afterwards.
   * Returns whether it succeeded, and all that the CDK wrote.
   */
  deploy(change: Change): Promise<{ readonly succeeded: boolean; readonly output: string }>;
  remove(): Promise<void>;
}

interface Change {
  readonly file?: string;
  /** It stands in the file once. */
  readonly text?: string;
  readonly replacement?: string;
  readonly values?: Readonly<Record<string, string>>;
  /** Names of stacks. @default - all */
  readonly stacks?: readonly string[];
}

/** Copies this tree. */
export async function openWorkshop(stage: string): Promise<Workshop> {
  const home = await mkdtemp(path.join(tmpdir(), 'emissor-first-day-'));
  const tree = path.join(home, 'tree');
  const left = new Set(['node_modules', '.git', '.local', 'cdk.out'].map(name => path.join(root, name)));
  await cp(root, tree, { recursive: true, filter: source => !left.has(source) });
  await symlink(path.join(root, 'node_modules'), path.join(tree, 'node_modules'));

  return {
    deploy: async ({ file, text = '', replacement = '', values = {}, stacks = ['--all'] }) => {
      const where = file === undefined ? undefined : path.join(tree, file);
      const before = where === undefined ? '' : await readFile(where, 'utf8');
      if (where) {
        if (before.split(text).length !== 2) throw new Error(`${file} does not hold "${text}" exactly once.`);
        await writeFile(
          where,
          before.replace(text, () => replacement),
        );
      }
      const tried = Object.entries({ stage, ...values }).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
      const words = [
        'deploy',
        ...stacks,
        ...tried,
        '--require-approval',
        'never',
        '--output',
        path.join(home, 'cdk.out'),
      ];
      try {
        return await runNode([path.join('node_modules', 'aws-cdk', 'bin', 'cdk'), '--no-notices', ...words], tree);
      } finally {
        if (where) await writeFile(where, before);
      }
    },
    remove: () => rm(home, { recursive: true, force: true }),
  };
}

/** Runs a Node program to its end. Returns both its streams. */
export function runNode(
  words: readonly string[],
  directory = root,
): Promise<{ readonly succeeded: boolean; readonly output: string; readonly stdout: string }> {
  return new Promise((resolve, reject) => {
    // In a process group of its own: Ctrl-C is to stop the checks, and not a deployment half-way.
    const child = spawn(process.execPath, words, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let [stdout, output] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.once('error', reject);
    child.once('close', code => resolve({ succeeded: code === 0, output, stdout }));
  });
}

const root = path.join(import.meta.dirname, '../..');
