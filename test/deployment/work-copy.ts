import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root, runNode } from '../support/run-node.ts';

/**
 * Copies all files in this tree except those that Git ignores, with uncommitted changes, and links `node_modules`. Tests change the copy.
 *
 * @param environment - the environment variables for every command, with the address and credentials of an emulator
 */
export function makeWorkCopy(folder: string, environment: Readonly<Record<string, string>>, limit: number) {
  const directory = path.join(folder, 'tree');
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  for (const file of list.toString('utf8').split('\0').filter(Boolean)) {
    if (!existsSync(path.join(root, file))) continue; // deleted, but not committed
    mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
    cpSync(path.join(root, file), path.join(directory, file));
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
  // The copy needs a commit, because the label of a release contains it.
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: directory, stdio: 'pipe' });
  git('init', '--quiet');
  writeFileSync(path.join(directory, '.git/info/exclude'), 'node_modules\n');
  git('add', '--all');
  git('-c', 'user.name=drill', '-c', 'user.email=drill@example.com', 'commit', '--quiet', '--message', 'test: drill');

  /** Replaces a string that a file contains exactly once. Returns a function that undoes the change. */
  const edit = (file: string, text: string, replacement: string) => {
    const target = path.join(directory, file);
    const before = readFileSync(target, 'utf8');
    if (before.split(text).length !== 2) throw new Error(`${file} does not contain "${text}" exactly once.`);
    writeFileSync(
      target,
      before.replace(text, () => replacement),
    );
    return () => writeFileSync(target, before);
  };

  const run = (words: readonly string[], input?: string) =>
    runNode({ args: words, directory, environment, timeout: limit, ...(input === undefined ? {} : { input }) });

  /** Runs the CDK CLI of `node_modules`. */
  const cdk = (...words: readonly string[]) => run(['node_modules/aws-cdk/bin/cdk', '--no-notices', ...words]);

  /** Runs a program of `bin/` like the npm script of the same name. */
  const program = (name: string, words: readonly string[], input?: string) =>
    run(['--require', './bin/node-version.cjs', `bin/${name}.ts`, ...words], input);

  /** Sets values in a stage's file. */
  const configure = (stage: string, values: Readonly<Record<string, unknown>>) => {
    const file = path.join(directory, 'stages', `${stage}.ts`);
    let content = readFileSync(file, 'utf8');
    for (const [key, value] of Object.entries(values)) {
      const line = `  ${key}: ${JSON.stringify(value)},`;
      const existing = new RegExp(`^  ${key}: .*,$`, 'm');
      content = content.replace(existing.test(content) ? existing : /^};$/m, match =>
        match === '};' ? `${line}\n};` : line,
      );
      if (!content.includes(line)) throw new Error(`Could not set ${key} in stages/${stage}.ts.`);
    }
    writeFileSync(file, content);
  };

  return { edit, cdk, program, configure };
}
