import { expect, it } from 'vitest';
import { faultsIn, subjectFault, textsOf } from '../../../tools/plain-english.ts';

const texts = (file: string, source: string) => textsOf(file, source).map(({ line, text }) => `${line} ${text}`.trim());

it('reads comments and strings of programs, and Markdown without code', () => {
  const program = `/** Opens\n * \`where\`. */\nconst a = 'one two three'; // why\nconst b = \`told \${x} by us\`;\n'two words';`;
  expect(texts('a.ts', program)).toEqual(['1 Opens .', '3 one two three', '3 why', '4 told by us']);
  expect(texts('a.md', 'Run `tell`.\n```\ntold\n```\nDone.')).toEqual(['1 Run `.', '2 `', '3 `', '4 `', '5 Done.']);
});

it.each([
  ['a term that has a better one, once', 'The sealed secret.', 1],
  ['a marker, twice in a short folder', 'It tells us. Nobody is told.', 2],
  ['nothing in plain English', 'An event that nothing needs, from where it came. Who is told?', 0],
])('finds %s', (_what, text, faults) => {
  expect(faultsIn([{ file: 'a.ts', line: 1, text }])).toHaveLength(faults);
});

it.each([
  ['fix(samples): report truncated responses as failures', undefined],
  ['refactor!: use one word for one thing', undefined],
  ['delivery: end a sweep', /not a Conventional Commit/],
  [`docs: ${'a'.repeat(67)}`, /72 characters/],
])('judges the subject %s', (subject, fault) => {
  const found = subjectFault(subject);
  if (fault) expect(found).toMatch(fault);
  else expect(found).toBeUndefined();
});
