import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ObjectStatus } from "../../lib/mesh/gateway-api/object-status.ts";
import { fileDifferences } from "./differences.ts";
import { asJson, isArray, isObject, type Json } from "./json.ts";
import type { FileOutcome } from "./outcome.ts";

const statusFile = "status.json";

/** What is written to the objects of a case, beside what Istio writes to them; undefined: the case does not say it. */
export function compareStatus(path: string, statuses: readonly ObjectStatus[]): FileOutcome | undefined {
  const file = join(path, statusFile);
  if (!existsSync(file)) return undefined;
  const expected: Json = JSON.parse(readFileSync(file, "utf8"));
  const made = statuses.map(({ key: { kind, namespace, name }, status }) => ({
    kind,
    ...(namespace === "" ? {} : { namespace }),
    name,
    status,
  }));
  return { proxy: "", file: statusFile, differences: fileDifferences(named(expected), named(asJson(made))) };
}

/** Objects by one name, without times; the parts of a message in order, which Istio takes from a map. */
function named(list: Json): Json {
  if (!isArray(list)) return list;
  return list.map((object) => {
    if (!isObject(object)) return object;
    const { kind = "", namespace = "", name = "", status = {} } = object;
    return { name: `${kind}/${namespace}/${name}`, status: normal(status) };
  });
}

function normal(value: Json): Json {
  if (isArray(value)) return value.map(normal);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => key !== "lastTransitionTime");
  return Object.fromEntries(
    kept.map(([key, member]) => [
      key,
      key === "message" && typeof member === "string" ? member.split("; ").sort().join("; ") : normal(member),
    ]),
  );
}
