// Makes the console out of lib/console, and the description of the API that it reads: as files for whatever serves static files
// (gen/console), and as a module for the front on Node and Lambda (gen/console.ts). Runs at `npm ci` (prepare), in about a second.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { openApiDocument } from "../lib/front/api/schema/openapi.ts";
import { shellHeaders } from "../lib/front/shell/shell-headers.ts";

const root = new URL("..", import.meta.url).pathname;
const source = join(root, "lib/console");
const folder = join(root, "gen/console");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/**
 * @param {string} entry
 * @returns {Promise<string>} minified, in one piece
 */
async function bundled(entry) {
  const { outputFiles } = await build({
    entryPoints: [join(source, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2023",
    jsx: "automatic",
    jsxImportSource: "preact",
    tsconfigRaw: {},
    legalComments: "none",
    logLevel: "error",
  });
  return outputFiles[0].text;
}

/**
 * @param {string} name
 * @param {string} type
 * @param {string} text
 */
function fixed(name, type, text) {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  const [stem, ending] = name.split(".");
  return { path: `/console/${stem}-${hash}.${ending}`, type, isFixed: true, text };
}

const script = fixed("app.js", "text/javascript; charset=utf-8", await bundled("main.tsx"));
const style = fixed("app.css", "text/css; charset=utf-8", await bundled("style.css"));
const follow = fixed("follow.js", "text/javascript; charset=utf-8", await bundled("follow.ts"));
const icon = fixed("icon.svg", "image/svg+xml", readFileSync(join(source, "icon.svg"), "utf8"));
const page = readFileSync(join(source, "index.html"), "utf8")
  .replace("SCRIPT", `.${script.path}`)
  .replace("STYLE", `.${style.path}`)
  .replace("FOLLOW", `.${follow.path}`)
  .replace("ICON", `.${icon.path}`);
const files = [
  { path: "/", type: "text/html; charset=utf-8", isFixed: false, text: page },
  script,
  style,
  icon,
  {
    path: "/api/openapi.json",
    type: "application/json",
    isFixed: false,
    text: `${JSON.stringify(openApiDocument(version))}\n`,
  },
];

rmSync(folder, { recursive: true, force: true });
const headerLines = Object.entries(shellHeaders).map(([name, value]) => `  ${name}: ${value}`);
const written = [
  ...files,
  // Of use where the front itself follows no requests, at the edge: there files are static.
  follow,
  {
    path: "/_headers",
    text: ["/*", ...headerLines, "/console/*", "  cache-control: public, max-age=31536000, immutable", ""].join("\n"),
  },
];
for (const { path, text } of written) {
  const to = join(folder, path === "/" ? "index.html" : path);
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, text);
}
writeFileSync(
  join(root, "gen/console.ts"),
  `/** Made by scripts/console.mjs. */\nexport const consoleFiles = ${JSON.stringify(files)} as const;\n`,
);
