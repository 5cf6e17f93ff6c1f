import type { ValuesParameter } from '../platform/text-template.ts';
import { fillInBoth, type Texts } from './language.ts';

/** An error in a request, with its location and a message that explains the correction. */
export type Finding = FindingLocation & { readonly code: string; readonly detail: Texts };

/** A table of findings, by case. Messages never repeat values of the request. `{name}` is a placeholder for another value. */
export type FindingTable = Readonly<Record<string, FindingCase>>;

const oneOf = { en: 'Must be one of {values}.', pt: 'Deve ser um destes valores: {values}.' } as const;

/** The findings in bodies and queries of any endpoint. */
export const apiFindings = {
  required: { code: 'required', en: 'This field is required.', pt: 'Este campo é obrigatório.' },
  unknown_field: { code: 'unknown_field', en: 'This field does not exist here.', pt: 'Não existe esse campo aqui.' },
  object_type: { code: 'wrong_type', en: 'Must be a JSON object.', pt: 'Deve ser um objeto JSON.' },
  string_type: { code: 'wrong_type', en: 'Must be a string.', pt: 'Deve ser uma string.' },
  boolean_type: { code: 'wrong_type', en: 'Must be true or false.', pt: 'Deve ser um booleano: true ou false.' },
  event: { code: 'unknown_event', ...oneOf },
  choice: { code: 'invalid_value', ...oneOf },
  choice_type: { code: 'wrong_type', ...oneOf },
  date_time: {
    code: 'invalid_value',
    en: 'Must be an RFC 3339 date and time with Z or an offset.',
    pt: 'O valor deve ser uma data e hora conforme a RFC 3339, com Z ou o deslocamento do fuso horário.',
  },
  plus_sign: {
    code: 'invalid_value',
    en: 'Must have a signed offset. In a query, encode + as %2B.',
    pt: 'O valor deve ter o sinal do deslocamento do fuso horário: na URL, o + se escreve %2B.',
  },
} as const satisfies FindingTable;

export function finding<Case extends FindingCase>(
  location: FindingLocation,
  { code, en, pt }: Case,
  ...[values = {}]: ValuesParameter<Case['en']>
): Finding {
  return { ...location, code, detail: fillInBoth({ en, pt }, values) };
}

/**
 * Returns the message of a zod check. `findingOf` converts it to a finding. The message has one line per language, because zod supports
 * only a single text. The lines must not contain placeholders.
 */
export function message({ en, pt }: FindingCase & { readonly code: 'invalid_value' }): string {
  return `${en}\n${pt}`;
}

/** Converts the text of a zod issue to a finding. Uses the text for both languages if `message` did not create it. */
export function findingOf(location: FindingLocation, issueMessage: string): Finding {
  const [en = '', pt = en] = issueMessage.split('\n');
  return { ...location, code: 'invalid_value', detail: { en, pt } };
}

interface FindingCase extends Texts {
  readonly code: string;
}

/** The location of an error, which is a JSON Pointer (RFC 6901) into the body or the name of a query parameter. */
type FindingLocation = { readonly pointer: string } | { readonly parameter: string };
