import { fieldsOf, listOf, numberOf, textOf } from "../../base/untyped.ts";
import { error, type Finding, type Path } from "../finding.ts";
import { isPortNumber } from "../rules/names.ts";

const label = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const transports: ReadonlySet<string> = new Set(["TCP", "UDP", "SCTP"]);

/** A lower-case DNS label, as Kubernetes has it. */
export const isLowerLabel = (text: string): boolean => label.test(text);

export function* numberRules(value: unknown, path: Path): Generator<Finding> {
  const number = numberOf(value);
  if (number !== undefined && !isPortNumber(number)) yield error(path, `${number} is not between 1 and 65535`);
}

export function* transportRules(value: unknown, path: Path): Generator<Finding> {
  const text = textOf(value);
  if (text !== "" && !transports.has(text)) yield error(path, `${JSON.stringify(text)} is none of TCP, UDP and SCTP`);
}

/** The name of a port of a service or slice. */
export function* portNameRules(value: unknown, path: Path): Generator<Finding> {
  const text = textOf(value);
  if (text !== "" && !isLowerLabel(text)) {
    const hint = "use lower-case letters, digits and -, at most 63";
    yield error(path, `${JSON.stringify(text)} is no name of a port`, hint);
  }
}

/** The name of a container's port, and of a target: at most 15 characters, with a letter. */
export function* containerPortNameRules(value: unknown, path: Path): Generator<Finding> {
  const text = textOf(value);
  if (text === "" && typeof value !== "string") return;
  const isName = text.length <= 15 && isLowerLabel(text) && /[a-z]/.test(text) && !text.includes("--");
  if (isName) return;
  const hint = "use lower-case letters, digits and single -, at most 15, one letter at least";
  yield error(path, `${JSON.stringify(text)} is no name of a container's port`, hint);
}

/** Names that ports of one list share. */
export function* duplicateNameRules(ports: unknown, path: Path): Generator<Finding> {
  if (listOf(ports).length < 2) return;
  const seen = new Set<string>();
  for (const [index, port] of listOf(ports).entries()) {
    const name = textOf(fieldsOf(port).name);
    if (name !== "" && seen.has(name)) {
      yield error(
        [...path, index, "name"],
        `${JSON.stringify(name)} is the name of an earlier port`,
        "names are unique",
      );
    }
    seen.add(name);
  }
}
