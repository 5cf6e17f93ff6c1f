import type { ValuesParameter } from '../platform/text-template.ts';
import { fillInBoth, type Texts } from './language.ts';

/** An error in a request, and how to correct it. */
export type Finding = FindingPlace & { readonly code: string; readonly detail: Texts };

/** The findings of a part of {base_url}, by case. Texts never repeat sent values, and `{name}` is a placeholder for another value. */
export type FindingTable = Readonly<Record<string, FindingCase>>;

const oneOf = { en: 'Must be one of {values}.', pt: 'Deve ser um destes valores: {values}.' } as const;

/** The findings in bodies and queries of any endpoint. */
export const apiFindings = {
  required: { code: 'required', en: 'This field is required.', pt: 'Este campo é obrigatório.' },
  unknown_field: { code: 'unknown_field', en: 'This field does not exist here.', pt: 'Não existe esse campo aqui.' },
  object_type: { code: 'wrong_type', en: 'Must be a JSON object.', pt: 'Deve ser um objeto JSON.' },
  string_type: { code: 'wrong_type', en: 'Must be a string.', pt: 'Deve ser uma string.' },
  boolean_type: {
    code: 'wrong_type',
    en: 'Must be a boolean: true or false.',
    pt: 'Deve ser um booleano: true ou false.',
  },
  event: { code: 'unknown_event', ...oneOf },
  choice: { code: 'invalid_value', ...oneOf },
  choice_type: { code: 'wrong_type', ...oneOf },
  date_time: {
    code: 'invalid_value',
    en: 'Must be a date and time as in RFC 3339, with Z or an offset.',
    pt: 'O valor deve ser uma data e hora conforme a RFC 3339, com Z ou o deslocamento do fuso horário.',
  },
  plus_sign: {
    code: 'invalid_value',
    en: 'Must have an offset with its sign. In a query, write + as %2B.',
    pt: 'O valor deve ter o sinal do deslocamento do fuso horário: na URL, o + se escreve %2B.',
  },
} as const satisfies FindingTable;

export function finding<Case extends FindingCase>(
  place: FindingPlace,
  { code, en, pt }: Case,
  ...[values = {}]: ValuesParameter<Case['en']>
): Finding {
  return { ...place, code, detail: fillInBoth({ en, pt }, values) };
}

/**
 * Returns the message of a zod check, which `findingOf` converts to a finding. It contains one line per language, because zod supports
 * a single text. The text must not have placeholders.
 */
export function message({ en, pt }: FindingCase & { readonly code: 'invalid_value' }): string {
  return `${en}\n${pt}`;
}

/** Returns the finding of a zod issue whose text `message` created. Any other text is used for both languages. */
export function findingOf(place: FindingPlace, issueMessage: string): Finding {
  const [en = '', pt = en] = issueMessage.split('\n');
  return { ...place, code: 'invalid_value', detail: { en, pt } };
}

interface FindingCase extends Texts {
  readonly code: string;
}

/** A JSON Pointer (RFC 6901) to the value in the body, empty for the whole body, or the name of a query parameter. */
type FindingPlace = { readonly pointer: string } | { readonly parameter: string };
