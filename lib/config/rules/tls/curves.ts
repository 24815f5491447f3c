import { error, type Finding, type Path, warning } from "../../finding.ts";
import { duplicates } from "../values.ts";

const curves: ReadonlySet<string> = new Set([
  "P-224",
  "P-256",
  "P-384",
  "P-521",
  "X25519",
  "X25519Kyber768Draft00",
  "X25519MLKEM768",
]);

const known = `known here: ${[...curves].join(", ")}`;

/** Curves of the mesh's defaults: those that are not known are left out. */
export function* curveRules(names: readonly string[], path: Path): Generator<Finding> {
  for (const [index, name] of names.entries()) {
    if (!curves.has(name)) yield warning([...path, index], `${JSON.stringify(name)} is ignored: unknown`);
  }
  yield* repeatedRules(names, path);
}

/** Curves that a server is restricted to: one that is not known is none, since without it there may be no restriction. */
export function* serverCurveRules(names: readonly string[], path: Path): Generator<Finding> {
  for (const [index, name] of names.entries()) {
    if (!curves.has(name)) yield error([...path, index], `${JSON.stringify(name)} is no curve`, known);
  }
  yield* repeatedRules(names, path);
}

function* repeatedRules(names: readonly string[], path: Path): Generator<Finding> {
  for (const [index, name] of duplicates(names))
    yield warning([...path, index], `${JSON.stringify(name)} is given twice`);
}
