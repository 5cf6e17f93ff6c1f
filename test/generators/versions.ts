/* The versions of external programs that the pages for integrators specify. */

export const generatorVersion = '7.25.0';

export const npmVersions = {
  'openapi-typescript': '7.13.0',
  'openapi-fetch': '0.17.0',
  typescript: '5.9.3',
} as const;
