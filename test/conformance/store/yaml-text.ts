import { COLLECTION_STYLE, dump, load, type Node, visit } from "js-yaml";
import { canonicalJson } from "../../../lib/config/canonical-json.ts";
import type { Json } from "../json.ts";

/** Characters up to which an object or a list stands on one line. */
const oneLine = 100;

/** JSON as YAML with sorted keys, a thing to a line unless it is short: equal values give equal texts. */
export function yamlText(value: Json): string {
  return dump(JSON.parse(canonicalJson(value)), {
    lineWidth: -1,
    noRefs: true,
    quoteStyle: "double",
    seqNoIndent: true,
    transform: (documents) =>
      visit(documents, (node) => {
        if (isCollection(node) && isPlain(node) && widthOf(node) <= oneLine) node.style = COLLECTION_STYLE.FLOW;
      }),
  });
}

/** What `yamlText` wrote. */
export function fromYamlText(text: string): Json {
  const value: Json = JSON.parse(JSON.stringify(load(text)));
  return value;
}

type Collection = Extract<Node, { kind: "sequence" | "mapping" }>;

const isCollection = (node: Node): node is Collection => node.kind === "sequence" || node.kind === "mapping";

/** False where several objects or lists follow each other: those have a line each, so that a diff shows one of them. */
function isPlain(node: Node): boolean {
  if (!isCollection(node)) return true;
  const members = node.kind === "sequence" ? node.items : node.items.map(({ value }) => value);
  return members.every(isPlain) && (node.kind === "mapping" || members.filter(isCollection).length < 2);
}

function widthOf(node: Node): number {
  switch (node.kind) {
    case "scalar":
      return node.value.length;
    case "alias":
      return node.anchor.length + 1;
    case "sequence":
      return node.items.reduce((width, item) => width + widthOf(item) + 2, 0);
    case "mapping":
      return node.items.reduce((width, { key, value }) => width + widthOf(key) + widthOf(value) + 4, 0);
  }
}
