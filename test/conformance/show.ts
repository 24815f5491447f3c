import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expectedReader, isCase } from "./store/case-store.ts";
import { yamlText } from "./store/yaml-text.ts";
import type { CaseFolder } from "./suite.ts";

/** A case to be read by people: its files, and every answer in full, each after a line with its name. */
export function showCase({ path, suite, name }: CaseFolder): string {
  const files = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(path, join(entry.parentPath, entry.name)))
    .filter((file) => !isCase(path) || !file.startsWith("expected"));
  const order = ["about.txt", "case.json", "nodes.json"];
  const rank = (file: string): string => `${order.includes(file) ? order.indexOf(file) : order.length}${file}`;
  const sections = files
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .map((file) => `# ${suite}/${name}/${file}\n${readFileSync(join(path, file), "utf8").trimEnd()}\n`);
  const answers = isCase(path) ? expectedReader()(path) : {};
  for (const [proxy, types] of Object.entries(answers)) {
    for (const [type, value] of Object.entries(types)) {
      sections.push(`# ${suite}/${name}: ${type} of ${proxy}\n${yamlText(value)}`);
    }
  }
  return sections.join("\n");
}
