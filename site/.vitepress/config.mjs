// The pages of the repository as a site. Their order is sidebar.ts; a link that leads nowhere fails the build.

import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";
import { anchorOf } from "../heading-anchor.ts";
import { sidebar } from "../sidebar.ts";
import { readPagesAsTheyAre } from "./pages-as-they-are.mjs";

/** Pages lie outside of this package, and become modules that ask for its Vue; what is rendered at build time shares one. */
const vueForPages = {
  name: "vue-for-pages",
  enforce: "pre",
  resolveId(source, importer, { ssr }) {
    if (!/^vue(?:\/|$)/.test(source)) return undefined;
    if (ssr) return { id: source, external: true };
    return importer?.endsWith(".md") ? this.resolve(source, import.meta.filename, { skipSelf: true }) : undefined;
  },
};

const icon = readFileSync(new URL("../../lib/console/icon.svg", import.meta.url)).toString("base64");

const addressOf = (page) => (page === "README.md" ? "/" : `/${page.replace(/\.md$/, "")}`);

export default defineConfig({
  lang: "en",
  title: "Portolan",
  description: "Istio's configuration, compiled once per change and served to Envoy from object storage",
  head: [
    ["link", { rel: "icon", href: `data:image/svg+xml;base64,${icon}` }],
    // Indented blocks, which have no frame of their own.
    ["style", {}, ".vp-doc pre { overflow-x: auto }"],
  ],
  // The repository, so that links between its pages are right as they stand.
  srcDir: "..",
  srcExclude: ["!(docs|samples|infra|*.md)/**", "**/node_modules/**"],
  rewrites: { "README.md": "index.md" },
  outDir: "../dist/site",
  cacheDir: "../.cache/site",
  ignoreDeadLinks: false,
  markdown: { anchor: { slugify: anchorOf }, config: readPagesAsTheyAre },
  // The compiler's own settings of TypeScript are no concern of the pages'.
  vite: { esbuild: { tsconfigRaw: {} }, plugins: [vueForPages] },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: sidebar().map(({ text, isFolded, entries }) => ({
      text,
      collapsed: isFolded,
      items: entries.map((one) => ({ text: one.text, link: addressOf(one.page) })),
    })),
  },
});
