import { validationError } from './errors.ts';
import { parseCondition } from './parse-condition.ts';
import { parseList, parsePath } from './parse-operand.ts';
import { parseUpdate } from './parse-update.ts';
import { reservedWords } from './reserved-words.ts';
import type { Condition, Parsed, Path, Update } from './syntax.ts';
import { readTokens, type Tokens } from './tokens.ts';

/** An expression's text as it came with a request; `undefined` where the request has none. */
type Text = string | undefined;

/** What parses the expressions of requests. Each throws a ValidationException. */
export const expressions = {
  condition: remembering<Condition>('ConditionExpression', parseCondition),
  filter: remembering<Condition>('FilterExpression', parseCondition),
  keyCondition: remembering<Condition>('KeyConditionExpression', parseCondition),
  update: remembering<Update>('UpdateExpression', parseUpdate),
  projection: remembering<readonly Path[]>('ProjectionExpression', tokens => parseList(tokens, parsePath)),
};

/** Makes a parser that parses each text once: programs write few. */
function remembering<Tree>(kind: string, parse: (tokens: Tokens) => Tree) {
  const known = new Map<string, Parsed<Tree>>();
  return function parseOnce(text: Text): Parsed<Tree> | undefined {
    if (text === undefined) return undefined;
    const remembered = known.get(text);
    if (remembered) return remembered;
    const parsed = parseAll(text, kind, parse);
    if (known.size >= mostRemembered) known.clear();
    known.set(text, parsed);
    return parsed;
  };
}

const mostRemembered = 10_000;

function parseAll<Tree>(text: string, kind: string, parse: (tokens: Tokens) => Tree): Parsed<Tree> {
  const tokens = readTokens(text, kind);
  const tree = parse(tokens);
  if (!tokens.isOver()) tokens.refuse();
  const { names, values, words } = tokens;
  for (const word of words) {
    if (reservedWords.has(word.toUpperCase())) {
      throw validationError(`Invalid ${kind}: Attribute name is a reserved keyword; reserved keyword: ${word}`);
    }
  }
  return { tree, names, values, words };
}
