/* The versions of external programs, as in the pages for integrators. */

export const generatorVersion = '7.25.0';

/** The versions of npm packages. */
export const npmVersions = {
  'openapi-typescript': '7.13.0',
  'openapi-fetch': '0.17.0',
  typescript: '5.9.3',
} as const;
