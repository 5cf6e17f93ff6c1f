import { describe, expect, it } from 'vitest';
import { checks } from '../../../../bin/first-day/checks.ts';
import { runFirstDay } from '../../../../bin/first-day/program.ts';
import { type Outcome, writeReport } from '../../../../bin/first-day/report.ts';
import { readPage } from '../../../support/markdown-page.ts';

const run = async (...args: string[]) => {
  const streams = { stdout: '', stderr: '' };
  const into = (name: keyof typeof streams) => ({
    isTTY: false,
    write: (text: string | Uint8Array) => {
      streams[name] += text;
      return true;
    },
  });
  const code = await runFirstDay(args, { stdout: into('stdout'), stderr: into('stderr') });
  return { code, ...streams };
};

describe('npm run first-day', () => {
  it.each([
    [[], /required option '--stage <name>' not specified/],
    [['--stage', 'local'], /Stage local is what "npm start" runs: it is not deployed/],
    [['--stage', 'nowhere'], /nowhere/],
    [['--stage', 'dev', '--only', 'nothing'], /Allowed choices are argon2, /],
  ])('%j is not understood', async (args, message) => {
    expect(await run(...args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
  });

  it('has the checks that docs/first-day.md tells of, each with what it says there', () => {
    const rows = readPage('docs/first-day.md').lines.flatMap(line => {
      const [, name, claim] = /^\| `([\w-]+)` \| (.+?) \| .+ \|$/.exec(line) ?? [];
      return name && claim ? [[name, claim]] : [];
    });
    expect(rows).toEqual(checks.map(({ name, claim }) => [name, claim]));
  });
});

describe('the report', () => {
  const outcomes: readonly Outcome[] = [
    { name: 'one', claim: 'It is so', state: 'passed', text: 'It is.', seconds: 1.2 },
    {
      name: 'two',
      claim: 'It is not so',
      state: 'failed',
      text: 'arn:aws:iam::123456789012:role/x at https://abcde12345.execute-api.sa-east-1.amazonaws.com\n```',
      seconds: 61,
    },
  ];
  const circumstances = { stage: 'dev', region: 'sa-east-1', version: '0.2.0', begun: new Date(0), isEmulated: false };

  it('says what passed, what failed, and how', () => {
    const report = writeReport(outcomes, circumstances);
    expect(report).toContain('# The first day: 1 passed, 1 failed, 0 skipped\n');
    expect(report).toContain('| two | failed | 61 s | It is not so |');
    expect(report).toContain('## one: passed\n```\nIt is.\n```');
  });

  it('names neither the account nor a host, and closes what it opens', () => {
    const report = writeReport(outcomes, circumstances);
    expect(report).not.toMatch(/123456789012|abcde12345/);
    expect(report).toContain('arn:aws:iam::ACCOUNT:role/x at https://API.execute-api.sa-east-1.amazonaws.com');
    expect(report.match(/```/g)).toHaveLength(4);
  });
});
