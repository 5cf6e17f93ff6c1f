import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { codeOf, LocalFault } from '../fault.ts';

/**
 * The secret under which the KMS stand-in wraps everything; kept in a file of mode 0600 where state is to survive.
 *
 * @throws {LocalFault} when the kept file is not a key: what was wrapped under it would be lost silently.
 */
export function masterKey(file?: string): Buffer {
  if (file === undefined) return randomBytes(length);
  try {
    const kept = readFileSync(file);
    if (kept.length === length) return kept;
    throw new LocalFault(`${file} is damaged: what is kept beside it cannot be opened, use a fresh --data.`);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const fresh = randomBytes(length);
    writeFileSync(file, fresh, { mode: 0o600, flag: 'wx' });
    return fresh;
  }
}

const length = 32;
