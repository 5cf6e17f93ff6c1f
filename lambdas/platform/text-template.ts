/** The values for the places `{name}` of a text. */
export type Values<Name extends string = string> = Readonly<Record<Name, string | number>>;

/** The parameter that takes the values of a text's places; there is none for a text without places. */
export type ValuesParameter<Text extends string> = [Places<Text>] extends [never]
  ? [values?: Values<never>]
  : [values: Values<Places<Text>>];

/** Puts a value into each place of a text. A value is never read as a text with places. */
export function fillIn(text: string, values: Values): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

type Places<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Places<Rest> : never;
