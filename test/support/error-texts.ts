import { apiFindings } from '../../lambdas/api/findings.ts';
import { problemTitles } from '../../lambdas/api/problem.ts';
import { apiProblems } from '../../lambdas/api/problems.ts';
import { deliveryFindings } from '../../lambdas/delivery/api/findings.ts';
import { deliveryProblems } from '../../lambdas/delivery/api/routes.ts';
import { webhookFindings } from '../../lambdas/webhooks/findings.ts';
import { webhookProblems } from '../../lambdas/webhooks/routes.ts';

/** All error texts of {base_url}. `findings` are the texts of validation errors. */
export const problems = { ...apiProblems, ...webhookProblems, ...deliveryProblems };
export const findings = { ...apiFindings, ...webhookFindings, ...deliveryFindings };

export type FindingName = keyof typeof findings;

export interface ErrorText {
  readonly code: string;
  readonly detail: string;
}

/** Returns whether an error has the title and the texts of a row, in English and, if passed, in Portuguese. */
export function isKnownProblem(english: ProblemText, portuguese: ProblemText | undefined): boolean {
  const { status, title } = english;
  const { en, pt } = Object.entries(problemTitles).find(([of]) => of === `${status}`)?.[1] ?? {};
  const rows = namesOf(problems, english, portuguese, row => row.status === status);
  return title === en && (portuguese?.title ?? pt) === pt && rows.length > 0;
}

/** Returns the names of the rows with a finding's texts, in English and, if passed, in Portuguese. */
export function findingNames(english: ErrorText, portuguese: ErrorText | undefined): readonly string[] {
  return namesOf<Row>(findings, english, portuguese);
}

interface ProblemText extends ErrorText {
  readonly title: string;
  readonly status: number;
}

interface Row {
  readonly code?: string;
  readonly en: string;
  readonly pt: string;
}

function namesOf<Of extends Row>(
  table: Readonly<Record<string, Of>>,
  english: ErrorText,
  portuguese: ErrorText | undefined,
  matches: (row: Of) => boolean = () => true,
): readonly string[] {
  return Object.entries(table).flatMap(([name, row]) =>
    (row.code ?? name) === english.code &&
    matchesTemplate(english.detail, row.en) &&
    (!portuguese || matchesTemplate(portuguese.detail, row.pt)) &&
    matches(row)
      ? [name]
      : [],
  );
}

/** Returns whether a text matches the template in a row. */
function matchesTemplate(text: string, row: string): boolean {
  const [first = '', ...others] = row.split(/\{\w+\}/);
  if (others.length === 0) return text === row;
  return text.startsWith(first) && text.endsWith(others.at(-1) ?? '') && !/[{}]|undefined/.test(text);
}
