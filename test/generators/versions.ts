/* Programs of others, in the versions that the pages for integrators name. */

/** The versions of openapi-generator that clients are made with: the newest, and one a year old, since many pin it. */
export const generatorVersions = { newest: '7.25.0', 'a year old': '7.15.0' } as const;

/** The versions of the programs that npm brings. */
export const npmVersions = {
  'openapi-typescript': '7.13.0',
  'openapi-fetch': '0.17.0',
  typescript: '5.9.3',
  '@stoplight/spectral-cli': '6.16.3',
} as const;
