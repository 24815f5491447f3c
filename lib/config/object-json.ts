import { PortolanError } from "../base/diagnostic.ts";
import { canonicalJson } from "./canonical-json.ts";
import { type Config, type ConfigMeta, defaultCreationTimeMs } from "./config.ts";
import { schemaOf } from "./kind-registry.ts";

/** An object in Kubernetes' form: what is printed, stored and hashed. Only this subset of metadata survives. */
export interface ConfigObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly creationTimestamp?: string;
    readonly resourceVersion?: string;
  };
  readonly spec: unknown;
  readonly status?: unknown;
}

/**
 * @param withRevision whether the resourceVersion is part of it: for people, not for hashing
 */
export function toObject(config: Config, withRevision = true): ConfigObject {
  const { meta, spec, status } = config;
  const { resourceVersion, creationTimestampMs } = meta;
  return {
    apiVersion: meta.group === "" ? meta.version : `${meta.group}/${meta.version}`,
    kind: meta.kind,
    metadata: {
      name: meta.name,
      ...(meta.namespace === "" ? {} : { namespace: meta.namespace }),
      ...(Object.keys(meta.labels).length === 0 ? {} : { labels: meta.labels }),
      ...(Object.keys(meta.annotations).length === 0 ? {} : { annotations: meta.annotations }),
      ...(creationTimestampMs === defaultCreationTimeMs
        ? {}
        : { creationTimestamp: new Date(creationTimestampMs).toISOString() }),
      ...(withRevision && resourceVersion !== "" ? { resourceVersion } : {}),
    },
    spec,
    ...(status === undefined ? {} : { status }),
  };
}

/** What a store keeps and hashes: canonical, without the revision that the store itself gives. */
export function storedText(config: Config): string {
  return canonicalJson(toObject(config, false));
}

/**
 * Reads back what `storedText` wrote; it was validated before it was stored.
 *
 * @param source name of the store, for origins
 * @throws PortolanError when the text is no stored object
 */
export function fromStoredText(text: string, resourceVersion: string, domain: string, source: string): Config {
  // Only texts that this module wrote come here; the envelope is checked, the spec was when it was stored.
  const object = JSON.parse(text) as ConfigObject;
  const slash = object.apiVersion.lastIndexOf("/");
  const group = slash < 0 ? "" : object.apiVersion.slice(0, slash);
  const schema = schemaOf(group, object.kind);
  if (schema === undefined) throw new PortolanError(`${source} holds a ${object.kind}, which is no known kind`);
  const { name, namespace = "", labels = {}, annotations = {}, creationTimestamp } = object.metadata;
  const meta: ConfigMeta = {
    kind: object.kind,
    group: schema.group,
    version: object.apiVersion.slice(slash + 1),
    name,
    namespace,
    domain,
    labels,
    annotations,
    resourceVersion,
    creationTimestampMs: creationTimestamp === undefined ? defaultCreationTimeMs : Date.parse(creationTimestamp),
  };
  return {
    meta,
    spec: object.spec,
    ...(object.status === undefined ? {} : { status: object.status }),
    origin: { key: { group: meta.group, kind: meta.kind, name, namespace }, file: source, line: 0 },
  };
}
