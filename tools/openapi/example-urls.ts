/** The addresses that stand in the published documents where a stage has its own. */
export const exampleUrls = { auth: 'https://auth.emissor.example', base: 'https://api.emissor.example' } as const;
