// In astro.config.ts these would be lost: starlight-openapi puts its own in their place. It calls a language `Shell`.
const getBlockLocale = ({ file }) => (/docs[\\/]pt[\\/]/.test(file.path) ? 'pt-BR' : 'en');
export default { defaultProps: { frame: 'none', wrap: true }, shiki: { langAlias: { Shell: 'sh' } }, getBlockLocale };
