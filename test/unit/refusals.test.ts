import { describe, expect, it } from 'vitest';
import { apiFindings, finding } from '../../lambdas/api/findings.ts';
import { Problem, problemTitles } from '../../lambdas/api/problem.ts';
import { apiProblems } from '../../lambdas/api/problems.ts';
import { deliveryFindings } from '../../lambdas/delivery/api/findings.ts';
import { deliveryProblems } from '../../lambdas/delivery/api/problems.ts';
import { webhookFindings } from '../../lambdas/webhooks/findings.ts';
import { webhookProblems } from '../../lambdas/webhooks/problems.ts';

const problems = [apiProblems, webhookProblems, deliveryProblems].flatMap(Object.entries);
const findings = [apiFindings, webhookFindings, deliveryFindings].flatMap(Object.entries);
const titles = Object.entries(problemTitles);
const texts = [...problems, ...findings, ...titles];

const placesOf = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();

// The tables alone say which codes there are; `docs-errors.test.ts` holds the integrators' error catalogue against them.

describe('the texts of refusals', () => {
  it.each(texts)('%s: in English and in Portuguese, with the same values', (_name, { en, pt }) => {
    expect(en).toMatch(/^[\x20-\x7e]+$/);
    expect(pt).toMatch(/^[\x20-\x7eÀ-ÿ]+$/);
    expect(pt).not.toBe(en);
    expect(placesOf(pt)).toEqual(placesOf(en));
    expect(en.replaceAll(/\{\w+\}/g, '')).not.toMatch(/[{}]/);
  });

  it.each([...problems, ...findings])('%s: in sentences', (_name, { en, pt }) => {
    expect(en).toMatch(/^[A-Z].*\.$/);
    expect(pt).toMatch(/^[A-ZÀ-Ý].*\.$/);
  });

  it('are told apart: no two cases say the same', () => {
    for (const language of ['en', 'pt'] as const) {
      const details = problems.map(([, texts]) => texts[language]);
      expect(new Set(details).size).toBe(details.length);
    }
  });

  it('give each code one status', () => {
    const statuses = Map.groupBy(
      problems.map(([, row]) => row),
      ({ code }) => code,
    );
    for (const [code, rows] of statuses)
      expect([code, new Set(rows.map(({ status }) => status)).size]).toEqual([code, 1]);
  });

  it('have a title for each status, and no other', () => {
    expect(titles.map(([status]) => Number(status))).toEqual(
      [...new Set(problems.map(([, { status }]) => status))].sort((one, other) => one - other),
    );
  });
});

describe('a refusal', () => {
  it('takes only cases of its table, with their values', () => {
    const refuse = Problem.from(apiProblems);
    // @ts-expect-error -- no such case
    expect(() => refuse('webhook_exists')).toThrow();
    // @ts-expect-error -- the text has a place for `allow`
    expect(refuse('method_not_allowed').detail.en).toContain('undefined');
    // @ts-expect-error -- the text has a place for `values`
    expect(finding({ pointer: '' }, apiFindings.choice).detail.en).toContain('undefined');
    const { detail, message } = refuse('method_not_allowed', { values: { allow: 'GET, HEAD' } });
    expect(detail).toEqual({ en: 'This path takes GET, HEAD.', pt: 'Este caminho aceita GET, HEAD.' });
    expect(message).toBe(detail.en);
  });
});
