import { describe, expect, it } from 'vitest';
import { accessTokenSeconds, refreshAbsoluteSeconds, refreshIdleSeconds } from '../../lambdas/auth/lifetimes.ts';
import { oauthCases } from '../../lambdas/auth/routes.ts';
import { requestLimits } from '../../lambdas/delivery/api/request-limits.ts';
import { connectTimeouts } from '../../lambdas/delivery/attempt/attempt.ts';
import { slowThreshold } from '../../lambdas/delivery/attempt/attempt-watch.ts';
import { maxRetryAfter, slowLaneWait, webhookLimitWait } from '../../lambdas/delivery/backoff.ts';
import { timeAroundAttempt } from '../../lambdas/delivery/consumer/batch-consumer.ts';
import { admittedFromReceive } from '../../lambdas/delivery/lanes/admission.ts';
import { attemptsPerProcess, slowLaneSlots } from '../../lambdas/delivery/lanes/concurrency-limit.ts';
import { suspendAfter } from '../../lambdas/delivery/outcome/webhook-health.ts';
import { replayInterval } from '../../lambdas/delivery/replay/replay-runner.ts';
import { historyRetention } from '../../lambdas/delivery/store/delivery-item.ts';
import { maxAge, maxQueueDelay, overdueThreshold } from '../../lambdas/delivery/transitions.ts';
import { byteBudget } from '../../lambdas/platform/egress/byte-budget.ts';
import { privateSuffixes } from '../../lambdas/platform/egress/host-name.ts';
import { maximumUrlLength } from '../../lambdas/platform/egress/url-rules.ts';
import { signsUntil } from '../../lambdas/webhooks/signing-secret.ts';
import { stageConfiguration } from '../../lib/config.ts';
import { laneConcurrency } from '../../lib/lane-concurrency.ts';
import { limitsOf } from '../../lib/throttling.ts';
import { inlineCode, readPage, sectionOf } from '../support/markdown-page.ts';

// These tests compare the limits and waits in the pages with the stage's defaults and the constants. Most tests read only English pages,
// because `docs-languages.test.ts` compares both languages.

const page = {
  webhooks: readPage('docs/en/webhooks.md'),
  deliveries: readPage('docs/en/deliveries.md'),
  receiving: readPage('docs/en/receiving.md'),
  tokens: readPage('docs/en/tokens.md'),
};

it('the page about webhooks lists the host names that are never public', () => {
  const suffixes = inlineCode(sectionOf(page.webhooks, 'Rules for URLs')).filter(code => code.startsWith('.'));
  expect(suffixes).toEqual([...privateSuffixes].map(suffix => `.${suffix}`));
});

const stage = stageConfiguration('dev');

const { slowConcurrency } = laneConcurrency(1_000);
/** The maximum number of attempts for one webhook that all processes of the slow lane have in flight. */
const slowAttempts =
  slowConcurrency *
  slowLaneSlots(slowConcurrency)({ webhooks: 1, othersInFlight: 0, finished: 0, isQuick: false, isRequested: false });

/** The maximum wait of a delivery in the slow lane, as a multiple of its age. */
const maxSlowWait = slowLaneWait(3_600_000, () => 1) / 3_600_000;

describe('the numbers', () => {
  const second = 1_000;
  const [minute, hour, day] = [60 * second, 60 * 60 * second, 24 * 60 * 60 * second];
  const units: readonly [number, string][] = [
    [hour, 'hours'],
    [minute, 'minutes'],
    [second, 'seconds'],
  ];
  const inWords = (ms: number) => {
    const [unit, name] = units.find(([length]) => ms >= length) ?? [1, 'milliseconds'];
    return `${ms / unit} ${name}`;
  };

  it('in the retry schedule match the configuration', () => {
    const rows = page.deliveries.tables.find(({ heading }) => heading === 'Attempts and waits')?.rows;
    const waits = ['none', ...stage.retrySchedule.map(inWords)];
    expect(rows).toEqual(waits.map((wait, index) => [String(index + 1), wait]));
    const total = stage.retrySchedule.reduce((sum, wait) => sum + wait, 0) / hour;
    const range = `${(total * 0.8).toFixed(1)} to ${total.toFixed(1)} hours`;
    expect(sectionOf(page.deliveries, 'Attempts and waits')).toContain(range);
    expect(sectionOf(page.deliveries, 'Attempts and waits')).toContain(`A delivery has ${waits.length} attempts`);
  });

  it.each([
    ['deliveries', 'Attempts and waits', `lasts ${inWords(stage.attemptTimeout)} at most`],
    ['deliveries', 'Attempts and waits', `${connectTimeouts.first} milliseconds to accept`],
    ['deliveries', 'Attempts and waits', `or ${inWords(connectTimeouts.slow)} if`],
    ['deliveries', 'Attempts and waits', `up to ${maxRetryAfter / hour} hours`],
    ['deliveries', 'Attempts and waits', `less than ${inWords(slowThreshold)}`],
    ['deliveries', 'Attempts and waits', `about ${slowAttempts} of its attempts`],
    ['deliveries', 'List deliveries', `up to about ${maxSlowWait} times the age`],
    ['deliveries', 'Attempts and waits', `for ${maxAge / day} days`],
    ['receiving', 'How to respond', `may send ${byteBudget / 1_024} KiB, TLS included`],
    ['deliveries', 'Suspend and reactivate', `for ${suspendAfter / day} days or more`],
    ['deliveries', 'Suspend and reactivate', `for ${historyRetention / day} days`],
    ['deliveries', 'History', `${historyRetention / day} days`],
    ['deliveries', 'Resend a delivery', `${requestLimits.resendLimit} a minute`],
    ['deliveries', 'Replay a time range', `${second / replayInterval} a second`],
    ['webhooks', 'Limits', `${requestLimits.resendLimit} a minute for each webhook`],
    ['webhooks', 'Limits', `${stage.registrationLimit} a minute for each account`],
    ['webhooks', 'Limits', `${requestLimits.testLimit} a minute for each account`],
    ['webhooks', 'Limits', `${maximumUrlLength.toLocaleString('en')} characters`],
    [
      'webhooks',
      'Rotate the secret',
      `${signsUntil({ encrypted: '', createdAt: 0, replacedAt: 0 }) / hour} more hours`,
    ],
    ['webhooks', 'Test', `${requestLimits.testLimit} tests a minute`],
    ['receiving', 'How to respond', `within ${inWords(stage.attemptTimeout)}`],
    ['receiving', 'How to respond', `up to ${maxRetryAfter / hour} hours`],
    ['tokens', 'Lifetimes', `${inWords(accessTokenSeconds * 1_000)}`],
    ['tokens', 'Lifetimes', `${(refreshIdleSeconds * 1_000) / day} days unused`],
    ['tokens', 'Lifetimes', `${(refreshAbsoluteSeconds * 1_000) / day} days from the login`],
    ['tokens', 'Wrong passwords and limits', `| ${stage.clientFailureLimit} |`],
  ] as const)('in %s, "%s", include: %s', (name, heading, phrase) => {
    expect(sectionOf(page[name], heading).replaceAll(/\s+/g, ' ')).toContain(phrase);
  });
});

describe('the numbers for operators and developers', () => {
  const limited = Object.entries(oauthCases).flatMap(([reason, [status]]) => (status === 429 ? [reason] : []));
  it.each(limited)('include the stage value in the runbook step about %s', reason => {
    const steps = readPage('docs/runbook.md')
      .lines.join(' ')
      .split(/(?<=[.:])\s/);
    const at = steps.findIndex(sentence => sentence.includes(`\`${reason}\``));
    expect(steps.slice(at, at + 5).join(' ')).toMatch(/`clientFailureLimit`/);
  });

  it('in the table of throttles match the defaults', () => {
    const { tables } = readPage('docs/tokens.md');
    const rows = tables.find(({ heading }) => heading === 'Floods')?.rows ?? [];
    const throttles = rows.map(([name, , rate = '', burst = '']) => [
      name,
      { rateLimit: Number.parseInt(rate, 10), burstLimit: Number.parseInt(burst, 10) },
    ]);
    const classes = ['token', 'auth', 'management', 'public'] as const;
    expect(throttles).toEqual(classes.map(name => [name, limitsOf(stage, name)]));
  });

  const ordinals = { 3: 'third', 5: 'fifth' };
  const { firstConcurrency, retryConcurrency } = laneConcurrency(1_000);
  it.each([
    ['SECURITY.md', `${stage.clientFailureLimit} wrong passwords a minute (\`clientFailureLimit\`)`],
    ...[
      `${ordinals[admittedFromReceive.first]} receive (${ordinals[admittedFromReceive.slow]} in the slow lane)`,
      `${slowThreshold / 1_000} s after it starts to resolve`,
      `${webhookLimitWait(() => 0) / 1_000} to ${webhookLimitWait(() => 1) / 1_000} s`,
      `clamp(2 × age, ${slowLaneWait(0, () => 1) / 1_000} s, ${slowLaneWait(maxAge, () => 1) / 3_600_000} h)`,
      `or ${(stage.attemptTimeout + timeAroundAttempt) / 1_000} s if the process received it itself`,
      `by up to ${maxQueueDelay / 60_000} min`,
      `after ${overdueThreshold / 60_000} min, then`,
      `For ${overdueThreshold / 60_000} min after that`,
      `5 %: ${firstConcurrency} of an account's 1,000 |`,
      `without a success for a minute | 2 %: ${retryConcurrency} |`,
      `all attempts of slow webhooks; tests | 2 %: ${slowConcurrency} |`,
      `up to ${attemptsPerProcess.first}, or ${attemptsPerProcess.slow} in the slow lane`,
      `about ${slowAttempts} attempts in all processes`,
    ].map(phrase => ['docs/delivery.md', phrase] as const),
  ] as const)('in %s include: %s', (file, phrase) => {
    expect(readPage(file).lines.join(' ').replaceAll(/\s+/g, ' ')).toContain(phrase);
  });
});
