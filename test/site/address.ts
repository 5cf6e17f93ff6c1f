/** The address of the site: under a path, as on GitHub Pages. A link that leaves the path out leads nowhere. */
export const url = 'https://docs.example.com/emissor';
