// The pages are written for whoever reads them in the repository. What they mean there, they mean here.

import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** Of a page's folder, as VitePress is told to read it; `infra` has one. */
const isPage = (path) => /^(?:docs|samples|infra)\/.*\.md$|^[A-Z]+\.md$/.test(path);

/** @param {import("markdown-it").default} md */
export function readPagesAsTheyAre(md) {
  // What looks like an element is a placeholder (`<name>`), besides comments.
  const written = (tokens, index) =>
    tokens[index].content.startsWith("<!--") ? "" : md.utils.escapeHtml(tokens[index].content);
  md.renderer.rules.html_inline = written;
  md.renderer.rules.html_block = written;
  // Braces in text are no expressions.
  md.renderer.rules.text = (tokens, index) => md.utils.escapeHtml(tokens[index].content).replaceAll("{{", "{&#8203;{");
  md.core.ruler.push("links-within-the-repository", ({ tokens, env }) => {
    for (const { children } of tokens) if (children !== null) leadLinks(children, env.realPath ?? env.path);
  });
}

/** A link to README leads to the first page; one to a file or a folder of the repository that is no page is text. */
function leadLinks(tokens, page) {
  let isText = false;
  for (const token of tokens) {
    if (token.type === "link_close" && isText) {
      Object.assign(token, { type: "named_close", tag: "span" });
      isText = false;
    }
    const href = token.type === "link_open" ? token.attrGet("href") : null;
    if (href === null || /^(?:[a-z]+:|#)/.test(href)) continue;
    const [path, anchor] = href.split("#");
    const target = relative(root, resolve(dirname(page), path));
    if (target === "README.md") {
      const first = relative(dirname(page), join(root, "index.md"));
      token.attrSet("href", anchor === undefined ? first : `${first}#${anchor}`);
    } else if (!isPage(target) && existsSync(join(root, target))) {
      Object.assign(token, { type: "named_open", tag: "span", attrs: [["title", `${target} in the repository`]] });
      isText = true;
    }
  }
}
