import { defineCollection } from 'astro:content';
import { docsSchema } from '@astrojs/starlight/schema';
import { pagesLoader } from '../loader.ts';

export const collections = {
  docs: defineCollection({
    loader: pagesLoader(import.meta.env.BASE_URL.replace(/\/?$/, '/'), process.env.EMISSOR_REPOSITORY),
    schema: docsSchema(),
  }),
};
