import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { documents, type Host } from './document.ts';

/** Returns the faults of a value by the schema at that place of a host's document; none where it is valid. */
export function faultsOf(value: unknown, host: Host, pointer: string): string[] {
  const validate = validatorAt(`${host}${pointer}`);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || 'the body'} ${message}`);
}

/** Each schema is compiled once, when a value for it is met. */
const validators = new Map<string, ValidateFunction>();

/** Not strict about keywords, for the document as a whole is no schema: lint checks it. */
const ajv = new Ajv2020({ allErrors: true, strict: false, validateSchema: false });
addFormats.default(ajv);
for (const [host, document] of Object.entries(documents)) ajv.addSchema(document, host);

function validatorAt(reference: string): ValidateFunction {
  const known = validators.get(reference);
  if (known) return known;
  const made = ajv.compile({ $ref: reference });
  validators.set(reference, made);
  return made;
}
