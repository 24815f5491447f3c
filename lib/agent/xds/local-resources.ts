import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { hashOf } from "../../base/blob.ts";
import { isRecord } from "../../base/classifier.ts";
import { sameElements } from "../../incremental/same-elements.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import { type CoreType, coreTypes } from "../../snapshot/resource-type.ts";
import { binaryForm } from "./binary-form.ts";
import { type Reference, rewriteSources, type SourceForm } from "./config-sources.ts";
import { type LocalResource, type LocalResources, type Offer, offerOf } from "./offer.ts";

/** JSON texts of resources by name, for each type. */
export type ResourceTexts = Readonly<Record<CoreType, ReadonlyMap<string, { readonly text: string }>>>;

/** A resource that has no binary form. */
export interface Unwritable {
  readonly type: CoreType;
  readonly name: string;
  readonly problem: string;
}

/** What texts come to. */
export interface MadeOffer {
  readonly offer: Offer;
  readonly unwritable: readonly Unwritable[];
}

interface Made {
  readonly text: string;
  readonly resource: LocalResource | undefined;
  readonly problem: string;
  readonly references: readonly Reference[];
}

/** What was made of the texts of one type. */
interface MadeType {
  readonly texts: ResourceTexts[CoreType];
  readonly made: ReadonlyMap<string, Made>;
  /** Names that others of the offer ask for, and that have no resource. */
  readonly missing: readonly string[];
  readonly resources: LocalResources;
}

/** Makes what Envoy is sent of JSON texts. What did not change since the last time is the same object again. */
export function createOfferMaker(form: SourceForm): (texts: ResourceTexts) => MadeOffer {
  const last = new Map<CoreType, MadeType>();

  function madeOf(type: CoreType, texts: ResourceTexts[CoreType]): ReadonlyMap<string, Made> {
    const known = last.get(type);
    if (known?.texts === texts) return known.made;
    return new Map(
      [...texts].map(([name, { text }]) => {
        const before = known?.made.get(name);
        return [name, before?.text === text ? before : make(type, name, text, form)];
      }),
    );
  }

  function resourcesOf(type: CoreType, of: Omit<MadeType, "resources">): LocalResources {
    const known = last.get(type);
    if (known?.made === of.made && sameElements(known.missing, of.missing)) return known.resources;
    const resources = new Map<string, LocalResource>();
    for (const [name, { resource }] of of.made) if (resource !== undefined) resources.set(name, resource);
    if (type === "endpoints" || type === "routes")
      for (const name of of.missing) resources.set(name, emptyResource({ type, name }));
    last.set(type, { ...of, resources });
    return resources;
  }

  return (texts) => {
    const made = {
      clusters: madeOf("clusters", texts.clusters),
      endpoints: madeOf("endpoints", texts.endpoints),
      listeners: madeOf("listeners", texts.listeners),
      routes: madeOf("routes", texts.routes),
    };
    const named = [...made.clusters.values(), ...made.listeners.values()].flatMap(({ references }) => references);
    // Envoy waits for what it is told to ask for: nothing is answered with nothing in it.
    const missing = named.filter(({ type, name }) => made[type].get(name)?.resource === undefined);
    const offer = offerOf((type) =>
      resourcesOf(type, {
        texts: texts[type],
        made: made[type],
        missing: missing.filter((one) => one.type === type).map(({ name }) => name),
      }),
    );
    const unwritable = coreTypes.flatMap((type) =>
      [...made[type]].flatMap(([name, { resource, problem }]) =>
        resource === undefined ? [{ type, name, problem }] : [],
      ),
    );
    return { offer, unwritable };
  };
}

function make(type: CoreType, name: string, text: string, form: SourceForm): Made {
  const parsed: JsonValue = JSON.parse(text);
  if (!isRecord(parsed)) return { text, resource: undefined, problem: "it is not a JSON object", references: [] };
  const { json, references } = rewriteSources(parsed, form);
  const written = binaryForm(type, json);
  if ("problem" in written) return { text, resource: undefined, problem: written.problem, references };
  return { text, resource: localResource(name, written.binary, text), problem: "", references };
}

const localResource = (name: string, binary: Uint8Array<ArrayBuffer>, source: string | undefined): LocalResource => ({
  name,
  version: wireVersion(hashOf(binary)),
  text: "",
  from: [],
  binary,
  source,
});

/** What stands for a resource that is named and not there: no endpoints, no routes. */
export function emptyResource({ type, name }: Reference): LocalResource {
  const json: JsonObject = type === "endpoints" ? { clusterName: name } : { name };
  const form = binaryForm(type, json);
  if ("problem" in form) throw new Error(`an empty resource has a binary form: ${form.problem}`);
  return localResource(name, form.binary, undefined);
}
