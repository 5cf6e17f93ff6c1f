/**
 * Loaded before a measured server (`node --import`): computes each password hash once and then answers from memory.
 * Hashing costs both servers the same, ten times everything else, and would hide the difference.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';

type Argon2 = typeof import('node:crypto').argon2;

const crypto = createRequire(import.meta.url)('node:crypto') as { argon2: Argon2 };
const { argon2 } = crypto;
const known = new Map<string, ReturnType<typeof Buffer.from>>();

crypto.argon2 = (algorithm, parameters, callback) => {
  const question = JSON.stringify([algorithm, parameters]);
  const answer = known.get(question);
  if (answer) return void setImmediate(callback, null, answer);
  argon2(algorithm, parameters, (error, derived) => {
    if (!error) known.set(question, derived);
    callback(error, derived);
  });
};
syncBuiltinESMExports();
