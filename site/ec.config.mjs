// In astro.config.ts these would be lost: starlight-openapi puts its own in their place. It calls a language `Shell`.
export default { defaultProps: { frame: 'none', wrap: true }, shiki: { langAlias: { Shell: 'sh' } } };
