/** The addresses in the published documents. Each stage has its own. */
export const exampleUrls = { auth: 'https://auth.emissor.example', base: 'https://api.emissor.example' } as const;
