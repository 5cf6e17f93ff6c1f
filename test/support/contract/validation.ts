import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { document } from './document.ts';

/** Returns the faults of a value by the schema at that place of the document; none where it is valid. */
export function faultsOf(value: unknown, pointer: string): string[] {
  const validate = validatorAt(pointer);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || 'the body'} ${message}`);
}

/** Each schema is compiled once, when a value for it is met. */
const validators = new Map<string, ValidateFunction>();

/** Not strict about keywords, for the document as a whole is no schema: lint checks it. */
const ajv = new Ajv2020({ allErrors: true, strict: false, validateSchema: false });
addFormats.default(ajv);
ajv.addSchema(document, 'emissor');

function validatorAt(pointer: string): ValidateFunction {
  const known = validators.get(pointer);
  if (known) return known;
  const made = ajv.compile({ $ref: `emissor${pointer}` });
  validators.set(pointer, made);
  return made;
}
