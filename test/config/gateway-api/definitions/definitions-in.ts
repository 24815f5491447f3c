import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { gatewayApiKinds } from "../../../../lib/config/gateway-api/gateway-api-kinds.ts";
import { type DefinedKind, type Definition, definedKind } from "./definition-digest.ts";

/** The kinds whose definitions lie in a folder, as far as they are read: others are told to have no effect, whatever they say. */
export function definitionsIn(folder: string): readonly DefinedKind[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".yaml"))
    .sort()
    .flatMap((file) => loadAll(readFileSync(join(folder, file), "utf8")))
    .filter(isDefinition)
    .filter(({ spec }) => isRead(spec.group, spec.names.kind))
    .map(definedKind);
}

const isRead = (group: string, kind: string): boolean =>
  gatewayApiKinds.some((one) => one.group === group && one.kind === kind && one.noEffect === undefined);

function isDefinition(value: unknown): value is Definition {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "CustomResourceDefinition";
}
