/** A parsed expression, and the placeholders that stand in it. */
export interface Parsed<Tree> {
  readonly tree: Tree;
  /** With their `#`. */
  readonly names: ReadonlySet<string>;
  /** With their `:`. */
  readonly values: ReadonlySet<string>;
  /** The names that are written out. */
  readonly words: ReadonlySet<string>;
}

/** The way to a value of an item: names, some of them placeholders, and places in lists. */
export type Path = readonly (string | number)[];

/** What is compared: an attribute, or a value of the request. */
export type Operand =
  | { readonly kind: 'attribute'; readonly path: Path }
  | { readonly kind: 'value'; readonly placeholder: string };

/** What holds for an item or does not. */
export type Condition =
  | { readonly kind: 'all' | 'any'; readonly parts: readonly Condition[] }
  | { readonly kind: 'not'; readonly part: Condition }
  | { readonly kind: 'exists' | 'missing'; readonly path: Path }
  | { readonly kind: 'begins'; readonly value: Operand; readonly start: Operand }
  | { readonly kind: 'between'; readonly value: Operand; readonly low: Operand; readonly high: Operand }
  | { readonly kind: 'in'; readonly value: Operand; readonly options: readonly Operand[] }
  | { readonly kind: 'comparison'; readonly operator: Comparison; readonly left: Operand; readonly right: Operand };

/** A comparison of two values. */
export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>=';

/** The changes of an update. */
export interface Update {
  readonly sets: readonly { readonly path: Path; readonly value: NewValue }[];
  readonly removals: readonly Path[];
}

/** The value that an update sets. */
export type NewValue =
  | Operand
  | { readonly kind: 'unless'; readonly path: Path; readonly otherwise: NewValue }
  | { readonly kind: 'append'; readonly left: NewValue; readonly right: NewValue }
  | { readonly kind: 'sum' | 'difference'; readonly left: NewValue; readonly right: NewValue };
