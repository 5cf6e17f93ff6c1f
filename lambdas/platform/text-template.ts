/** The values for the placeholders `{name}` of a text. */
export type Values<Name extends string = string> = Readonly<Record<Name, string | number>>;

/** The parameter with the values of a text's placeholders. A text without placeholders has no such parameter. */
export type ValuesParameter<Text extends string> = [Placeholders<Text>] extends [never]
  ? [values?: Values<never>]
  : [values: Values<Placeholders<Text>>];

/** Replaces each placeholder of a text by its value. Placeholders in values are not replaced. */
export function fillIn(text: string, values: Values): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;
