import type { FindingTable } from '../../api/findings.ts';

/** The validation errors of history queries and replay requests. */
export const deliveryFindings = {
  limite_number: {
    code: 'invalid_value',
    en: 'Must be a whole number from 1 to 100.',
    pt: 'O valor deve ser um número inteiro de 1 a 100.',
  },
  limite_range: {
    code: 'invalid_value',
    en: 'Must be from 1 to 100.',
    pt: 'O valor deve estar entre 1 e 100.',
  },
  cursor: {
    code: 'invalid_value',
    en: 'Must be a proximo_cursor of this list.',
    pt: 'O valor deve ser um proximo_cursor desta lista.',
  },
  range: {
    code: 'invalid_value',
    en: 'Must be after desde.',
    pt: 'O valor deve ser posterior a desde.',
  },
  unknown_parameter: {
    code: 'unknown_field',
    en: 'This operation has no such parameter.',
    pt: 'Não existe esse parâmetro aqui.',
  },
  repeated: { code: 'repeated', en: 'Send this parameter only once.', pt: 'Informe este parâmetro uma única vez.' },
} as const satisfies FindingTable;
