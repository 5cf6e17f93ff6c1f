import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/*
 * Checks comments, Markdown, strings and commit subjects as the last step of `npm run lint`. It exits with 1 if a folder has more than 0.3
 * uses of a marker per 1,000 words, if a text contains a forbidden term, or if a subject is not a Conventional Commit.
 */

/** A pattern and its replacement. */
type Rule = readonly [pattern: RegExp, replacement: string];

/** Words that are correct in some uses. Only frequent use is a fault. */
const markers: readonly Rule[] = [
  [/\b(?:tell|tells|telling|told)\b/gi, 'report, notify, log, show'],
  [/(?<!\b(?:from|know|knows|page|place|places|say|says|see|show|shows) )\bwhere\b/gi, 'if, when'],
  [
    /\bnobody\b|\b(?:nothing|none)(?= (?:of [\w ]+ |else )?(?:is|are|was|has|have|had|can|may|must|will|would|that|\w+s)\b)/gi,
    'a positive statement',
  ],
  [/\b(?:stands|stood)\b/gi, 'is'],
  [/\bbeside\b/gi, 'next to, in addition to'],
  [/\b(?:begin|begins|began|begun)\b/gi, 'start'],
  [/(?:^|[.:!] )(?:What|Whether|Whoever)\b(?![^.]*\?)/g, 'a sentence with a subject'],
];

/** Terms that are always a fault. */
const terms: readonly Rule[] = [
  [/\b(?:mend|mends|mended|mending)\b/gi, 'fix'],
  [/\banew\b/gi, 'again'],
  [/\b(?:seal|seals|sealed|sealing)\b/gi, 'encrypt'],
  [/\brefused (?:events?|messages?)\b/gi, 'rejected'],
  [/\b(?:leads?|led) (?:\w+ )?back\b|\bthe way back\b/gi, 'roll back'],
  [/\blate by\b|\bis late\b/gi, 'overdue by'],
  [/\b(?:dead|poison) letters?\b/gi, 'dead-letter message'],
  [/\bunder way\b|\bin hand\b/gi, 'in flight'],
  [/\b(?:most|fewest|longest|shortest)[A-Z]\w*/g, 'max…, min…'],
  [
    /\b(?:ProcessOutside|thisWorld|inHand|MessagesInHand|broughtForward|movedBy|isLook|SourceOff|openEarly)\b/g,
    'its new name',
  ],
  [/\b(?:nameDone|nameMore|nameEach|furtherArguments|ofPrograms|tellOfReuse|unattemptedEndOf)\b/g, 'its new name'],
];

/** Exceptions for correct uses. There may be at most 15. */
const allowed: readonly (readonly [file: RegExp, text: RegExp, reason: string])[] = [];

/** A text that people read. */
interface Text {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** Returns the texts of a file. These are Markdown without code, or the comments and the strings of at least three words in a program. */
export function textsOf(file: string, source: string): readonly Text[] {
  if (file.endsWith('.md')) {
    const prose = source.replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, code => code.replaceAll(/[^\n]+/g, '`'));
    return prose.split('\n').map((text, at) => ({ file, line: at + 1, text }));
  }
  return [...source.matchAll(stringOrComment)].flatMap(({ 0: match, index }) => {
    const isComment = match.startsWith('/');
    if (!isComment && (match.match(/ /g)?.length ?? 0) < 2) return [];
    const code = isComment ? /^\s*(?:\/\*\*?|\*\/?|\/\/)|\*\/$|`[^`\n]*`/gm : /\$\{[^}]*\}|^.|.$/g;
    const text = match.replaceAll(code, ' ').replaceAll(/\s+/g, ' ').trim();
    return [{ file, line: source.slice(0, index).split('\n').length, text }];
  });
}

const stringOrComment = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

/** Returns the faults in the texts of one folder. */
export function faultsIn(texts: readonly Text[]): readonly string[] {
  const words = texts.reduce((sum, { text }) => sum + (text.match(/[A-Za-z']+/g)?.length ?? 0), 0);
  const frequent = markers.map(rule => usesOf(rule, texts)).filter(uses => uses.length > Math.max(1, words * 0.0003));
  return [...terms.flatMap(rule => usesOf(rule, texts)), ...frequent.flat()];
}

function usesOf([rule, replacement]: Rule, texts: readonly Text[]): readonly string[] {
  return texts.flatMap(({ file, line, text }) => {
    if (allowed.some(([files, pattern]) => files.test(file) && pattern.test(text))) return [];
    return [...text.matchAll(rule)].map(({ 0: use, index }) => {
      return `${file}:${line}: "${use.trim()}" (${replacement}): ${text.slice(Math.max(0, index - 40), index + 40)}`;
    });
  });
}

/** Returns the fault in a commit subject, if any. */
export function subjectFault(subject: string): string | undefined {
  if (subject.length > 72) return `"${subject}" has more than 72 characters.`;
  const isConventional = /^(?:feat|fix|perf|refactor|test|docs|build|ci|chore)(?:\([\w-]+\))?!?: \S/.test(subject);
  return isConventional ? undefined : `"${subject}" is not a Conventional Commit. Write "type(scope): imperative".`;
}

function check(): readonly string[] {
  const files = git('ls-files', '*.md', '*.ts', '*.tsx', '*.mjs').filter(file => !excluded.test(file));
  const texts = files.flatMap(file => textsOf(file, readFileSync(path.join(root, file), 'utf8')));
  const folders = Map.groupBy(texts, ({ file }) => (file.includes('/') ? file.split('/')[0] : '.'));
  const subjects = git('log', '--no-merges', '--since=2026-11-29T00:00:00Z', '--format=%s');
  return [...[...folders.values()].flatMap(faultsIn), ...subjects.flatMap(subject => subjectFault(subject) ?? [])];
}

/** Files with Portuguese, generated or recorded texts, and the files of this check. */
const excluded = /^docs\/(?:pt|api)\/|\/recorded\/|plain-english/;
const root = path.join(import.meta.dirname, '..');

function git(...args: string[]): readonly string[] {
  const output = execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  return output.split('\n').filter(line => line !== '');
}

if (import.meta.main) {
  const faults = check();
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
