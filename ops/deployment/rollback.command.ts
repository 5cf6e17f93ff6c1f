import * as z from 'zod';
import { command, type Noun } from '../audit/command.ts';
import { optionalArgument } from '../command-line/arg-spec.ts';
import { makeFormatter, type Report } from '../command-line/report.ts';
import { CliError } from '../stage/operator.ts';
import { nextDeployment } from './next-deployment.ts';
import { type Move, readReleases, rollBack } from './rollback.ts';

const notes = `
Without RELEASE, the command lists the releases and the version that each function runs. With RELEASE, it points all functions
to that earlier or later release within seconds. Only the aliases change. Versions, tables, queues and permissions do not.
You can repeat the command. It fails while a deployment is in progress.

Examples:
  npm run ops -- --stage prod rollback
  npm run ops -- --stage prod rollback 0.2.0-1a2b3c4d5e6f`;

const releaseName = z.string().regex(/^[\w.-]{1,128}$/, 'It must be a release. "rollback" lists the releases.');

export const rollback: Noun = {
  name: 'rollback',
  commands: [
    command('rollback', {
      description: 'list the releases, or point all functions to one of them immediately',
      notes,
      args: { release: optionalArgument('RELEASE', 'the release to run', releaseName) },
      effect: 'writes',
      isAudited: ({ release }) => release !== undefined,
      act: async (task, { release }): Promise<Report> => {
        const { deployed, label } = task.target;
        if (!deployed)
          throw new CliError(`${label} has only one release. Specify a deployed stage: ops --stage NAME rollback.`);
        if (release === undefined) return reportReleases(await readReleases(task.target, deployed));
        const outcome = await rollBack(task, deployed, release);
        return reportMoves({ ...outcome, stage: deployed.configuration.stage, next: nextDeployment(deployed) });
      },
      report: report => report,
    }),
  ],
};

function reportReleases({ functions, releases }: Awaited<ReturnType<typeof readReleases>>): Report {
  const releaseRows = releases.map(({ release, publishedAt, versions }) => {
    const running = functions.filter(({ name, version }) => versions.get(name) === version).length;
    return { release, publishedAt, functions: versions.size, running };
  });
  const functionRows = functions.map(({ name, version, deployedVersion, sharing }) => {
    const current = releases.find(({ versions }) => versions.get(name) === version);
    return { function: name, version, release: current?.release ?? null, deployedVersion, sharing };
  });
  const releaseFormatter = makeFormatter<(typeof releaseRows)[number]>([
    { json: 'release', heading: 'release' },
    { json: 'publishedAt', heading: 'published' },
    { json: 'functions', heading: 'functions' },
    { json: 'running', heading: 'running' },
  ]);
  const liveFormatter = makeFormatter<(typeof functionRows)[number]>([
    { json: 'function', heading: 'function' },
    { json: 'version', heading: 'version' },
    { json: 'release', heading: 'release' },
    { json: 'deployedVersion', heading: 'last deployed' },
    { json: 'sharing', heading: 'shifting to', text: ({ sharing }) => sharing.join(', ') || undefined },
  ]);
  const text = `${releaseFormatter.table(releaseRows, 'No releases.')}\n\n${liveFormatter.table(functionRows, 'No functions.')}`;
  return { json: { releases: releaseRows, functions: functionRows.map(liveFormatter.json) }, text };
}

function reportMoves(json: {
  release: string;
  moved: readonly Move[];
  without: readonly string[];
  stage: string;
  next: string;
}): Report {
  const { release, moved, without, stage, next } = json;
  const lines = [
    ...moved.map(({ function: name, from, to }) => `${name}: version ${from} to ${to}`),
    ...(moved.length === 0 ? [`All functions of the release already run ${release}.`] : []),
    ...(without.length > 0 ? [`Not moved, because the release does not contain them: ${without.join(', ')}.`] : []),
    `Next, run: npm run smoke -- --stage ${stage}`,
    `For the next deployment, run: ${next}`,
  ];
  return { json, text: lines.join('\n') };
}
