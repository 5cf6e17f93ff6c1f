import { type Comment, parseSync, type Span, type TSAsExpression, type TSTypeAssertion, Visitor } from 'oxc-parser';

/**
 * The kinds of what a program asserts and the compiler does not check. `as T` is also `<T>x`, `as unknown as` every assertion of an
 * assertion, `!` also that of a declaration, `is T` also `asserts x`, and `@ts-` each comment that silences the compiler.
 * `as const` and `satisfies` are checked: they are none.
 */
export const kinds = ['as T', 'as unknown as', 'as never', 'any', '!', 'is T', '@ts-', 'biome-ignore'] as const;

export type Kind = (typeof kinds)[number];

/** A place that asserts. */
export interface Assertion {
  readonly kind: Kind;
  /** The line of its end, from 1: that of the type, where there is one. */
  readonly line: number;
  readonly text: string;
  /**
   * What is said right above its first line, above its last one, or above its statement; empty if nothing is. Doc comments say what
   * something is, and not why: they are no reason.
   */
  readonly reason: string;
}

/** Returns what a file asserts, in the order of its lines. It reads the syntax. @throws when the text is no TypeScript */
export function findAssertions(file: string, source: string): Assertion[] {
  const { program, comments, errors } = parseSync(file, source, { preserveParens: false });
  if (errors.length > 0) throw new SyntaxError(`${file}: ${errors.map(({ message }) => message).join(' ')}`);
  const commentAbove = makeCommentAbove(source, comments);
  const statements: Span[] = [];
  const inner = new Set<Span>();
  const found: Assertion[] = [];

  for (const comment of comments) {
    const kind = silences(comment);
    if (kind) add(kind, comment);
  }
  new Visitor({
    TSAsExpression: addChecked,
    TSTypeAssertion: addChecked,
    TSAnyKeyword: node => add('any', node),
    TSNonNullExpression: node => add('!', node),
    TSTypePredicate: node => add('is T', node),
    VariableDeclarator: addDefinite,
    PropertyDefinition: addDefinite,
    AccessorProperty: addDefinite,
    ExportNamedDeclaration: beginStatement,
    ExpressionStatement: beginStatement,
    ReturnStatement: beginStatement,
    VariableDeclaration: beginStatement,
  }).visit(program);
  return found.sort((one, other) => one.line - other.line);

  function beginStatement(node: Span): void {
    statements.push(node);
  }

  function addDefinite(node: Span & { readonly definite?: boolean }): void {
    if (node.definite) add('!', node);
  }

  function addChecked(node: Cast): void {
    const { expression, typeAnnotation } = node;
    if (inner.has(node) || isConst(node)) return;
    if ((expression.type === 'TSAsExpression' || expression.type === 'TSTypeAssertion') && !isConst(expression)) {
      inner.add(expression);
      add('as unknown as', node);
    } else add(typeAnnotation.type === 'TSNeverKeyword' ? 'as never' : 'as T', node);
  }

  function add(kind: Kind, { start, end }: Span): void {
    const statement = statements.findLast(around => around.start <= start && end <= around.end);
    const reason = commentAbove(start) || commentAbove(end) || (statement ? commentAbove(statement.start) : '');
    found.push({ kind, line: lineOf(source, end), text: source.slice(start, end), reason });
  }
}

type Cast = TSAsExpression | TSTypeAssertion;

function isConst({ typeAnnotation }: Cast): boolean {
  const name = typeAnnotation.type === 'TSTypeReference' ? typeAnnotation.typeName : undefined;
  return name?.type === 'Identifier' && name.name === 'const';
}

/** Returns what a comment silences: the compiler, or the linter. */
function silences({ value }: Comment): '@ts-' | 'biome-ignore' | undefined {
  if (/^[\s*/]*@ts-(?:expect-error|ignore|nocheck)\b/m.test(value)) return '@ts-';
  return /^[\s*]*biome-ignore/m.test(value) ? 'biome-ignore' : undefined;
}

/** Makes what returns the text of the comments that end on the line above a place. */
function makeCommentAbove(source: string, comments: readonly Comment[]): (place: number) => string {
  const byLastLine = new Map<number, Comment>();
  for (const comment of comments) {
    const before = source.slice(source.lastIndexOf('\n', comment.start) + 1, comment.start);
    const isReason = before.trim() === '' && !comment.value.startsWith('*') && !silences(comment);
    if (isReason) byLastLine.set(lineOf(source, comment.end), comment);
  }
  return function commentAbove(place) {
    const texts: string[] = [];
    let comment = byLastLine.get(lineOf(source, place) - 1);
    while (comment) {
      texts.unshift(comment.value.replaceAll(/^\s*\*+/gm, ''));
      comment = byLastLine.get(lineOf(source, comment.start) - 1);
    }
    return texts.join(' ').replaceAll(/\s+/g, ' ').trim();
  };
}

function lineOf(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length;
}
