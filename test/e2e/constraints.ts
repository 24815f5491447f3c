/** Resources that break one constraint each, made from the recorded cases. */
import type { JsonValue } from "@bufbuild/protobuf";
import { createConstraints } from "../../lib/descriptors/field-constraints.ts";
import { createFormCheck } from "../../lib/descriptors/message-form.ts";
import { registry, schemas } from "../../lib/descriptors/registry.ts";
import { createTypeLookup } from "../../lib/descriptors/type-lookup.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { generate } from "../../lib/xds/generate.ts";
import { type ResourceType, resourceTypes } from "../../lib/xds/resource.ts";
import { pollShape } from "../../lib/xds/shape.ts";
import { loadCase } from "../conformance/load-case.ts";
import { casesOf } from "../conformance/suites.ts";
import { wholeResources } from "../whole-resources.ts";

const hasForm = createFormCheck(createTypeLookup(registry));
const { violationIn } = createConstraints(createTypeLookup(registry));

export interface MadeResource {
  readonly type: ResourceType;
  readonly name: string;
  readonly json: JsonValue;
}

/** A resource that breaks a constraint, and the one that it was made from. */
export interface BrokenResource {
  readonly sound: MadeResource;
  readonly broken: MadeResource;
  /** The field and the rule: `routes.match must have one of …`. */
  readonly what: string;
}

/** Each resource of the recorded cases once, as pollers get it. */
export function polledResources(): readonly MadeResource[] {
  const made = new Map<string, MadeResource>();
  for (const { path } of casesOf("v3")) {
    const world = loadCase(path);
    const memo = createMemo();
    const mesh = buildMesh(world, memo).value;
    for (const proxy of world.proxies) {
      const resources = wholeResources(pollShape(generate(mesh, proxy, memo).value, memo));
      for (const type of resourceTypes) {
        for (const { name, json } of resources[type]) {
          const text = JSON.stringify(json);
          made.set(`${type} ${text}`, { type, name, json: JSON.parse(text) });
        }
      }
    }
  }
  return [...made.values()];
}

export const violationOf = ({ type, json }: MadeResource) =>
  hasForm(schemas[type], json) ? violationIn(schemas[type], json) : undefined;

const oddities: readonly JsonValue[] = ["", "a\nb", "0s", "-1s", "0.0000001s", 0, 4_294_967_295, 1e15, [], {}, false];

/**
 * For each constraint that a change of one field can break, the first resource that then breaks it.
 *
 * @param made the resources to change
 */
export function brokenOnes(made: readonly MadeResource[]): readonly BrokenResource[] {
  const found = new Map<string, BrokenResource>();
  for (const sound of made) {
    for (const change of changesOf(sound.json)) {
      const undo = change();
      const violation = violationOf(sound);
      if (violation !== undefined) {
        const fields = violation.path.filter((part) => typeof part === "string");
        const what = `${sound.type} ${fields.slice(-2).join(".")} ${violation.reason}`;
        if (!found.has(what)) {
          const json: JsonValue = structuredClone(sound.json);
          found.set(what, { sound, broken: { ...sound, json }, what });
        }
      }
      undo();
    }
    // What was changed is as it was: later uses read the same object.
  }
  return [...found.values()];
}

type Members = { [name: string]: JsonValue };

/** Each changes one member of one object, and gives what takes it back. */
function* changesOf(json: JsonValue): Generator<() => () => void> {
  for (const place of objectsIn(json)) {
    for (const key of Object.keys(place)) {
      const written = place[key];
      if (written === undefined || key === "@type") continue;
      const back = () => {
        place[key] = written;
      };
      yield () => {
        delete place[key];
        return back;
      };
      for (const odd of oddities) {
        if (typeof odd !== typeof written || Array.isArray(odd) !== Array.isArray(written)) continue;
        yield () => {
          place[key] = odd;
          return back;
        };
      }
    }
  }
}

function objectsIn(value: JsonValue): readonly Members[] {
  if (value === null || typeof value !== "object") return [];
  const within = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? within : [value, ...within];
}
