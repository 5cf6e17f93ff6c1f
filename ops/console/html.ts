/** Markup. Only {@link html} makes it, so that what is put into it is escaped exactly once. */
export class Html {
  readonly text: string;

  /** @param text - markup that is safe as it is. */
  constructor(text: string) {
    this.text = text;
  }
}

/**
 * A value that a template takes: text and numbers are escaped, markup is taken as it is, nothing is left out. Characters that are
 * not seen, or that turn the order of others around, are shown as `\u202e`: with them a text looks like another one.
 */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

/**
 * Writes markup by a template: `` html`<b>${name}</b>` ``. Attributes stand in double quotes.
 *
 * @see https://cheatsheetseries.owasp.org/cheatsheets/Cross_Site_Scripting_Prevention_Cheat_Sheet.html
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(strings.reduce((text, string, at) => `${text}${markup(values[at - 1])}${string}`));
}

/** Writes a text into an attribute as it is, for a button that copies it: what is signed is copied to the byte. */
export function verbatim(text: string): Html {
  return new Html(text.replace(/[&<>"']/g, character => entities[character] ?? ''));
}

function markup(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(markup).join('');
  return String(value).replace(unsafe, character => entities[character] ?? escaped(character));
}

/** Markup, and what is no visible character. The joiners belong to words and pictures of some languages. */
const unsafe = /[&<>"']|(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
