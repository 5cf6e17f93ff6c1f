import type { Operation } from './operation.ts';

/** The addresses of each host: an example, and those of a local run. Each stage has its own. */
export const servers: Readonly<Record<Operation['host'], readonly object[]>> = {
  auth: [
    { url: 'https://auth.emissor.example', description: 'The authorization server, {auth_url}' },
    { url: 'http://127.0.0.1:4000', description: 'The same in a local run (`npm start`)' },
  ],
  base: [
    { url: 'https://api.emissor.example', description: 'The API, {base_url}' },
    { url: 'http://127.0.0.1:4001', description: 'The same in a local run (`npm start`)' },
  ],
};
