/** Programs write few expressions. */
const known = new Map<string, readonly string[]>();

/** Returns the tokens of an expression. Any character that starts none is one by itself, which nothing expects. */
export function tokensOf(text: string): readonly string[] {
  const tokens = known.get(text) ?? text.match(/[#:]?\w+|<>|<=|>=|\S/g) ?? [];
  known.set(text, tokens);
  return tokens;
}
