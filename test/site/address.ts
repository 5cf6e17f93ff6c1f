/** The URL of the site. It has a path, as on GitHub Pages, so links without the path are broken. */
export const url = 'https://docs.example.com/emissor';
