// In astro.config.ts starlight-openapi would overwrite these options. It uses a language named `Shell`.
const getBlockLocale = ({ file }) => (/docs[\\/]pt[\\/]/.test(file.path) ? 'pt-BR' : 'en');
export default { defaultProps: { frame: 'none', wrap: true }, shiki: { langAlias: { Shell: 'sh' } }, getBlockLocale };
