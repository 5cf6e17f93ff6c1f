/** The URLs in the published documents. Each stage has its own URLs. */
export const exampleUrls = { auth: 'https://auth.emissor.example', base: 'https://api.emissor.example' } as const;
