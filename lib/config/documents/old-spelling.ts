import { type Fields, isFields } from "../../base/untyped.ts";
import { hostOfBlocks } from "../rules/names.ts";
import { groupVersion } from "../values/group-version.ts";
import type { ParsedObject } from "./parse.ts";

/**
 * Translates `networking.istio.io/v1alpha3` objects as releases 0.7 and 0.8 spelled them into today's form: ExternalService
 * is a ServiceEntry, destinations and rules have a `name` instead of a `host`, outlier detection stands below `http`.
 * Anything else comes back as it is.
 * @see docs/how-istio-does-it/legacy-v1.md#other-releases
 */
export function fromOldSpelling(written: ParsedObject): ParsedObject {
  const object = withCamelCaseKind(written);
  if (object.apiVersion !== "networking.istio.io/v1alpha3" || !isFields(object.spec)) return object;
  const { spec } = object;
  switch (object.kind) {
    case "ExternalService":
      return {
        ...object,
        kind: "ServiceEntry",
        origin: { ...object.origin, key: { ...object.origin.key, kind: "ServiceEntry" } },
        spec: serviceEntrySpec(spec, object.metadata.name),
      };
    case "VirtualService":
      return { ...object, spec: withHosts(spec) };
    case "DestinationRule":
      return { ...object, spec: flatOutliers(withHost(spec)) };
    default:
      return object;
  }
}

/** `route-rule` → `RouteRule` of `config.istio.io/v1alpha2`, as the first releases named kinds. */
function withCamelCaseKind(object: ParsedObject): ParsedObject {
  if (!/^[a-z]+(?:-[a-z]+)+$/.test(object.kind)) return object;
  const kind = object.kind
    .split("-")
    .map((part) => acronyms[part] ?? `${part.charAt(0).toUpperCase()}${part.slice(1)}`)
    .join("");
  const apiVersion = object.apiVersion === "" ? "config.istio.io/v1alpha2" : object.apiVersion;
  const { group } = groupVersion(apiVersion);
  return { ...object, kind, apiVersion, origin: { ...object.origin, key: { ...object.origin.key, group, kind } } };
}

const acronyms: Readonly<Record<string, string>> = { http: "HTTP", api: "API" };

function serviceEntrySpec(spec: Fields, name: string): Fields {
  const { discovery, hosts, ...rest } = spec;
  const all: readonly unknown[] = Array.isArray(hosts) ? hosts : [];
  const blocks = all.filter((host) => typeof host === "string" && host.includes("/"));
  const names = all.filter((host) => !blocks.includes(host));
  return {
    ...rest,
    hosts: names.length > 0 ? names : [hostOfBlocks(name)],
    ...(blocks.length > 0 ? { addresses: blocks } : {}),
    ...(discovery === undefined ? {} : { resolution: discovery }),
  };
}

/** `{name}` → `{host}`, wherever a destination stands. */
function withHosts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withHosts);
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      (key === "destination" || key === "mirror") && isFields(member) ? withHost(member) : withHosts(member),
    ]),
  );
}

function withHost(fields: Fields): Fields {
  if (fields.host !== undefined || typeof fields.name !== "string") return fields;
  const { name, ...rest } = fields;
  return { host: name, ...rest };
}

function flatOutliers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(flatOutliers);
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      if (key !== "outlierDetection" || !isFields(member) || !isFields(member.http)) return [key, flatOutliers(member)];
      const { http, ...rest } = member;
      return [key, { ...rest, ...(isFields(http) ? http : {}) }];
    }),
  );
}
