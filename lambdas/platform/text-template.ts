/** The values for the placeholders `{name}` in a text. */
export type Values<Name extends string = string> = Readonly<Record<Name, string | number>>;

/** The parameter that contains the values of a text's placeholders. It is optional for a text without placeholders. */
export type ValuesParameter<Text extends string> = [Placeholders<Text>] extends [never]
  ? [values?: Values<never>]
  : [values: Values<Placeholders<Text>>];

/** Replaces each placeholder in a text with its value. Does not replace placeholders in values. */
export function fillIn(text: string, values: Values): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;
