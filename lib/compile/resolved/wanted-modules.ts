/** Code of Wasm extensions, which only Istio's agent fetches by itself, and a resolver for Envoys without one. */

import { byCodePoint, type Diagnostic, keyText, type Stage } from "../../base/diagnostic.ts";
import { type Config, keyOf } from "../../config/config.ts";
import { at, warning } from "../../config/finding.ts";
import { moduleName, type ResolvedModule, type WantedModule } from "../../config/kinds/wasm-module.ts";
import type { WasmConfig } from "../../config/kinds/wasm-plugin.ts";
import { keepList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { keyHostNamespaces } from "../../mesh/hosts/key-host-namespaces.ts";
import { isOfKind } from "../../mesh/index/configs-by-kind.ts";
import type { Service } from "../../registry/service.ts";

/** So many modules one namespace may want, and a mesh: each may have 64 MiB. */
const maxOfNamespace = 8;
const maxOfMesh = 64;

/** The Wasm of an object, if it has any. */
function wasmOf(config: Config): WasmConfig | undefined {
  if (isOfKind(config, "WasmPlugin")) return config.spec;
  return isOfKind(config, "TrafficExtension") ? config.spec.wasm : undefined;
}

/**
 * What is to be fetched for an extension: nothing for code in a file. Code that is asked for over clear text needs a hash, by which it is
 * known.
 */
function wantedBy({ url, sha256, imagePullSecret, imagePullPolicy }: WasmConfig, namespace: string) {
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\//.exec(url)?.[1]?.toLowerCase();
  if (scheme === "file" || (scheme === "http" && !sha256)) return undefined;
  const isImage = scheme === undefined || scheme === "oci";
  const always = imagePullPolicy === "Always" || (imagePullPolicy !== "IfNotPresent" && isImage && isLatest(url));
  const wanted: WantedModule = {
    url: scheme === undefined ? `oci://${url}` : url,
    ...(sha256 ? { sha256 } : {}),
    ...(imagePullSecret && isImage ? { pullSecret: `${namespace}/${imagePullSecret}` } : {}),
    ...(always && !sha256 ? { always } : {}),
  };
  return wanted;
}

/** Whether an image is named by no tag, or by the one that moves: Istio pulls such images anew. */
const isLatest = (url: string): boolean => {
  const [name = "", digest] = url.split("@");
  const last = name.slice(name.lastIndexOf("/") + 1);
  return digest === undefined && (!last.includes(":") || last.endsWith(":latest"));
};

interface AskedModule {
  readonly config: Config;
  readonly namespace: string;
  readonly wanted: WantedModule;
}

/**
 * The modules that a world wants, sorted by name, but for those that proxies fetch by themselves, from a service that the namespace itself
 * or the mesh has declared. Where there are too many, the objects that came first have theirs, and each namespace its first before any has
 * its second.
 *
 * @returns `wasm-not-fetched` for each object that is left out
 */
export function wantedModules(
  configs: readonly Config[],
  services: readonly Service[],
  rootNamespace: string,
  memo: Memo,
): Stage<readonly WantedModule[]> {
  const asked = askedModules(memo, { configs });
  if (asked.length === 0) return { value: [], diagnostics: [] };
  const hosts = new Set(asked.map(({ wanted }) => hostOf(wanted)));
  const known = new Set(
    services.flatMap(({ hostname, attributes }) =>
      hosts.has(hostname) ? [`${attributes.namespace}/${hostname}`] : [],
    ),
  );
  const isInMesh = ({ namespace, wanted }: AskedModule): boolean => {
    const host = hostOf(wanted);
    return keyHostNamespaces(host, namespace, rootNamespace).some((one) => known.has(`${one}/${host}`));
  };
  const fetched = asked.filter((one) => !(isOfClusters(one.wanted) && isInMesh(one)));
  return chosen(memo, { asked: keepList(memo, "modules that a resolver may fetch", fetched) });
}

const chosen = query(
  "modules that a resolver fetches",
  ({ asked }: { readonly asked: readonly AskedModule[] }): Stage<readonly WantedModule[]> => {
    const ranked = [...Map.groupBy(asked, ({ namespace }) => namespace).values()].flatMap((list) => {
      const rankOf = new Map([...new Set(list.toSorted(byAge).map(nameOf))].map((name, rank) => [name, rank]));
      return list.map((one) => ({ one, rank: rankOf.get(nameOf(one)) ?? 0 }));
    });
    const inTurn = ranked.toSorted((a, b) => a.rank - b.rank || byAge(a.one, b.one));
    const within = inTurn.filter(({ rank }) => rank < maxOfNamespace).map(({ one }) => one);
    const names = new Set([...new Set(within.map(nameOf))].slice(0, maxOfMesh));
    // One that another object of the list names is fetched for both.
    const left = inTurn.filter(({ one }) => !names.has(nameOf(one)));
    return {
      value: distinct(within.filter((one) => names.has(nameOf(one)))),
      diagnostics: left.map(({ one, rank }) => leftOut(one, rank >= maxOfNamespace)),
    };
  },
);

const nameOf = ({ wanted }: AskedModule): string => moduleName(wanted);

const byAge = (a: AskedModule, b: AskedModule): number =>
  a.config.meta.creationTimestampMs - b.config.meta.creationTimestampMs ||
  byCodePoint(keyText(keyOf(a.config)), keyText(keyOf(b.config)));

function leftOut({ config, namespace }: AskedModule, isOfNamespace: boolean): Diagnostic {
  const [most, of] = isOfNamespace ? [maxOfNamespace, `namespace ${namespace}`] : [maxOfMesh, "the mesh"];
  const path = isOfKind(config, "TrafficExtension") ? ["spec", "wasm", "url"] : ["spec", "url"];
  const message = `this code is not fetched: ${of} may have ${most} modules, and those of older objects come first`;
  const hint = "remove an extension that is not used, or let several name the same module";
  return at(config.origin, warning(path, message, hint, "wasm-not-fetched"));
}

/** Envoy fetches over HTTP what it has a hash of. */
const isOfClusters = ({ url, sha256 }: WantedModule): boolean => sha256 !== undefined && /^https?:/i.test(url);

const hostOf = ({ url }: WantedModule): string => URL.parse(url)?.hostname ?? "";

const distinct = (asked: readonly AskedModule[]): readonly WantedModule[] =>
  [...new Map(asked.map(({ wanted }) => [moduleName(wanted), wanted]))]
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([, wanted]) => wanted);

const askedModules = query(
  "modules that objects ask a resolver for",
  ({ configs }: { readonly configs: readonly Config[] }): readonly AskedModule[] => {
    return configs.flatMap((config): readonly AskedModule[] => {
      const { namespace } = config.meta;
      const wasm = wasmOf(config);
      const wanted = wasm === undefined ? undefined : wantedBy(wasm, namespace);
      return wanted === undefined ? [] : [{ config, namespace, wanted }];
    });
  },
);

/** The objects of a world, each with the hash of the module that was fetched for it. Where nothing was fetched they are the same list. */
export function withResolvedModules(
  configs: readonly Config[],
  found: readonly ResolvedModule[],
  memo: Memo,
): readonly Config[] {
  if (found.length === 0) return configs;
  const byName = new Map(found.map(({ of, sha256 }) => [of, sha256]));
  const changed = configs.map((config) => {
    const wasm = wasmOf(config);
    const wanted = wasm === undefined ? undefined : wantedBy(wasm, config.meta.namespace);
    const resolvedSha256 = wanted === undefined ? undefined : byName.get(moduleName(wanted));
    return resolvedSha256 === undefined ? config : withModule(memo, { config, resolvedSha256 });
  });
  return keepList(memo, "objects with fetched modules", changed);
}

const withModule = query(
  "object with a fetched module",
  ({ config, resolvedSha256 }: { readonly config: Config; readonly resolvedSha256: string }): Config => {
    if (isOfKind(config, "WasmPlugin")) return { ...config, spec: { ...config.spec, resolvedSha256 } };
    if (!isOfKind(config, "TrafficExtension") || config.spec.wasm === undefined) return config;
    return { ...config, spec: { ...config.spec, wasm: { ...config.spec.wasm, resolvedSha256 } } };
  },
);
