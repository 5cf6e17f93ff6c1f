/** Markup. Only {@link html} makes it, so that what is put into it is escaped exactly once. */
export class Html {
  readonly text: string;

  /** @param text - markup that is safe as it is. */
  constructor(text: string) {
    this.text = text;
  }
}

/** A value that a template takes: text and numbers are escaped, markup is taken as it is, nothing is left out. */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

/**
 * Writes markup by a template: `` html`<b>${name}</b>` ``. Attributes stand in double quotes.
 *
 * @see https://cheatsheetseries.owasp.org/cheatsheets/Cross_Site_Scripting_Prevention_Cheat_Sheet.html
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(strings.reduce((text, string, at) => `${text}${markup(values[at - 1])}${string}`));
}

function markup(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(markup).join('');
  return String(value).replace(/[&<>"']/g, character => entities[character] ?? '');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
