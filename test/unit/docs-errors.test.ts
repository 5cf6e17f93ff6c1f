import { describe, expect, it } from 'vitest';
import { apiFindings } from '../../lambdas/api/findings.ts';
import { problemBody, problemTitles } from '../../lambdas/api/problem.ts';
import { apiProblems } from '../../lambdas/api/problems.ts';
import { oauthCases } from '../../lambdas/auth/oauth-error.ts';
import { deliveryFindings } from '../../lambdas/delivery/api/findings.ts';
import { deliveryProblems } from '../../lambdas/delivery/api/problems.ts';
import { webhookFindings } from '../../lambdas/webhooks/findings.ts';
import { webhookProblems } from '../../lambdas/webhooks/problems.ts';
import { firstCells, readPage, sectionOf } from '../support/markdown-page.ts';

// The error catalogue that integrators read, against the tables of refusals.

const errors = readPage('docs/en/errors.md');

describe('the error catalogue', () => {
  const problems = [apiProblems, webhookProblems, deliveryProblems].flatMap(table => Object.values(table));
  const findings = [apiFindings, webhookFindings, deliveryFindings].flatMap(table => Object.values(table));
  const statuses = Object.groupBy(
    [
      ...problems.map(({ code, status }) => ({ code, status })),
      ...findings.map(({ code }) => ({ code, status: apiProblems.validation_failed.status })),
      ...Object.values(oauthCases).map(([status, code]) => ({ code, status })),
    ],
    ({ code }) => code,
  );

  it.each(['docs/pt/erros.md', 'docs/en/errors.md'])('%s has an anchor for each code, and for nothing else', file => {
    const codes = readPage(file).headings.filter(({ level }) => level === 3);
    expect(codes.map(({ anchor }) => anchor).sort()).toEqual(Object.keys(statuses).sort());
  });

  it.each(Object.entries(statuses))('%s has its statuses', (code, rows = []) => {
    const [, status = ''] = /^\*\*Status (.+?)\.\*\*/.exec(sectionOf(errors, code)) ?? [];
    const named = [...status.matchAll(/\d{3}/g)].map(([number]) => Number(number));
    expect([...new Set(named)].sort()).toEqual([...new Set(rows.map(row => row.status))].sort());
  });

  it.each([
    ['docs/pt/erros.md', 'pt'],
    ['docs/en/errors.md', 'en'],
  ] as const)('%s shows refusals as they are', (file, language) => {
    const [problem, oauth] = readPage(file).blocks.map(({ text }) => JSON.parse(text));
    const { status, code } = apiProblems.validation_failed;
    expect(problem).toEqual({
      type: `https://docs.example.com/erros#${code}`,
      title: problemTitles[status][language],
      status,
      detail: apiProblems.validation_failed[language],
      code,
      requisicao: 'AbCdEfGhIjKlMnO=',
      errors: [{ pointer: '/url', code: 'url_not_https', detail: webhookFindings.https[language] }],
    });
    const [, error, error_description] = oauthCases.credentials_refused;
    expect(oauth).toEqual({ error, error_description });
  });

  it('names each field of a problem', () => {
    expect(firstCells(errors, 'How an error comes')).toEqual([Object.keys(problemBody.shape)]);
  });
});
