/* Programs of others, in the versions that the pages for integrators name. */

/** The version of openapi-generator that clients are made with. */
export const generatorVersion = '7.25.0';

/** The versions of the programs that npm brings. */
export const npmVersions = {
  'openapi-typescript': '7.13.0',
  'openapi-fetch': '0.17.0',
  typescript: '5.9.3',
} as const;
