// If these options were in astro.config.ts, starlight-openapi would overwrite them. Its code samples use the language `Shell`.
const getBlockLocale = ({ file }) => (/docs[\\/]pt[\\/]/.test(file.path) ? 'pt-BR' : 'en');
export default { defaultProps: { frame: 'none', wrap: true }, shiki: { langAlias: { Shell: 'sh' } }, getBlockLocale };
