import { validationError } from './errors.ts';

/** The tokens of an expression, one after the other. */
export type Tokens = ReturnType<typeof readTokens>;

/**
 * Reads an expression's tokens: words, placeholders, numbers, operators.
 *
 * @param kind - what DynamoDB calls the expression: `ConditionExpression`
 * @throws ValidationException for one that is empty, over 4 KB, or has other characters.
 */
export function readTokens(text: string, kind: string) {
  const tokens = split(text, kind);
  const [names, values, words] = [new Set<string>(), new Set<string>(), new Set<string>()];
  let at = 0;
  return { peek, next, takes, takesWord, expect, isOver, refuse, names, values, words };

  /** Returns the next token, or one after it; an empty one at the end. */
  function peek(ahead = 0): string {
    return tokens[at + ahead] ?? '';
  }

  function next(): string {
    const token = peek();
    at += 1;
    return token;
  }

  /** Takes the next token where it is this one. */
  function takes(token: string): boolean {
    if (peek() !== token) return false;
    at += 1;
    return true;
  }

  /** Takes the next token where it is this keyword, in any case. */
  function takesWord(word: string): boolean {
    if (peek().toUpperCase() !== word) return false;
    at += 1;
    return true;
  }

  function expect(token: string): void {
    if (!takes(token)) refuse();
  }

  function isOver(): boolean {
    return at >= tokens.length;
  }

  function refuse(): never {
    throw validationError(
      `Invalid ${kind}: Syntax error; token: "${peek() || '<EOF>'}", near: "${tokens.slice(Math.max(0, at - 1), at + 2).join(' ')}"`,
    );
  }
}

function split(text: string, kind: string): readonly string[] {
  if (text.length > longest) {
    throw validationError(`Invalid ${kind}: Expression size has exceeded the maximum allowed size`);
  }
  const tokens = text.match(token) ?? [];
  if (tokens.length === 0) throw validationError(`Invalid ${kind}: The expression can not be empty;`);
  if (tokens.some(part => !whole.test(part))) throw validationError(`Invalid ${kind}: Syntax error in ${text}`);
  return tokens;
}

const longest = 4_096;

/** Any other character is a token too, which nobody expects. */
const token = /[#:]?\w+|<>|<=|>=|\S/g;

const whole = /^(?:[#:]?\w+|<>|<=|>=|[=<>()+\-,.[\]])$/;
