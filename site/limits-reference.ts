import { readFileSync } from "node:fs";
import { limits } from "../lib/limits/limits.ts";

const source = readFileSync(new URL("../lib/limits/limits.ts", import.meta.url), "utf8");

/**
 * The page of the limits of requests.
 *
 * @returns Markdown: a row for each limit, with its comment in `lib/limits/limits.ts`
 * @throws {Error} for a limit without a comment of one line
 */
export function limitsReference(): string {
  const rows = Object.entries(limits).map(([name, value]) => {
    const comment = new RegExp(`^ {2}/\\*\\* (.+) \\*/\\n {2}${name}:`, "m").exec(source)?.[1];
    if (comment === undefined) throw new Error(`lib/limits/limits.ts: ${name} needs a comment of one line`);
    return `| \`${name}\` | ${figureOf(name, value)} | ${comment} |`;
  });
  return `# Limits of requests

Made from \`lib/limits/limits.ts\` by \`npm run reference\`; a test compares the two.
[Security](../security.md#what-a-request-may-cost) has the status codes. A body beyond its limit is too large,
unless the row names another effect. A cache evicts its oldest entries.

| limit | value | of what; what happens beyond |
| --- | --- | --- |
${rows.join("\n")}
`;
}

/** A limit as people read it: `1 MiB`, `10 s`, `10,000`. */
function figureOf(name: string, value: number): string {
  if (name.endsWith("Ms")) return `${value / 1000} s`;
  if (!name.endsWith("Bytes")) return value.toLocaleString("en");
  const kib = value / 1024;
  return kib < 1024 ? `${kib} KiB` : `${kib / 1024} MiB`;
}
