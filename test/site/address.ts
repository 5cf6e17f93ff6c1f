/** The URL of the site. As on GitHub Pages, it has a path, so the tests find links that omit the path. */
export const url = 'https://docs.example.com/emissor';
