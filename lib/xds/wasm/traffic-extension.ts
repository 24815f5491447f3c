import { byCodePoint } from "../../base/diagnostic.ts";
import type { ConfigMeta } from "../../config/config.ts";
import type { TrafficExtension, TrafficSelector, WasmConfig } from "../../config/kinds/wasm-plugin.ts";
import type { WorkloadPolicies } from "../../mesh/views/views.ts";
import { extensionName, translatedPluginName } from "../names.ts";

/** The phases of an extension, in the order of a chain; `UNSPECIFIED` comes last, before the router. */
export type ExtensionPhase = "AUTHN" | "AUTHZ" | "STATS" | "UNSPECIFIED";

/** An extension of a workload, whichever kind of object asks for it. */
export interface Extension {
  readonly resourceName: string;
  readonly phase: ExtensionPhase;
  /** Empty: every listener. */
  readonly match: readonly TrafficSelector[];
  readonly code:
    | { readonly kind: "wasm"; readonly layer: "http" | "network" }
    | { readonly kind: "lua"; readonly source: string };
}

/**
 * The extensions of a workload in the order in which chains have them: highest priority first, none last; then the
 * workload's own namespace before the root's, then age.
 *
 * @param namespace the workload's
 * @see docs/how-istio-does-it/extensions.md#which-extensions
 */
export function extensionsOf(
  policies: Pick<WorkloadPolicies, "wasmPlugins" | "trafficExtensions">,
  namespace: string,
): readonly Extension[] {
  const plugins = policies.wasmPlugins.map(({ meta, spec }) => {
    const name = translatedPluginName(meta.name);
    const phase: ExtensionPhase =
      spec.phase === undefined || spec.phase === "UNSPECIFIED_PHASE" ? "UNSPECIFIED" : spec.phase;
    return { meta, name, phase, priority: spec.priority, match: spec.match, code: wasmCode(spec) };
  });
  const written = policies.trafficExtensions.flatMap(({ meta, spec }) => {
    const code = codeOf(spec);
    if (code === undefined) return [];
    const phase: ExtensionPhase = spec.phase ?? "UNSPECIFIED";
    return [{ meta, name: meta.name, phase, priority: spec.priority, match: spec.match, code }];
  });
  return [...plugins, ...written]
    .sort((a, b) => byPriority(a, b) || byNamespace(a.meta, b.meta, namespace) || byAge(a, b))
    .map(({ meta, name, phase, match = [], code }) => ({
      resourceName: extensionName(meta.namespace, name),
      phase,
      match,
      code,
    }));
}

function codeOf({ wasm, lua }: TrafficExtension): Extension["code"] | undefined {
  if (wasm !== undefined) return wasmCode(wasm);
  return lua === undefined ? undefined : { kind: "lua", source: lua.inlineCode };
}

function wasmCode({ type }: WasmConfig): Extension["code"] {
  return { kind: "wasm", layer: type === "NETWORK" ? "network" : "http" };
}

interface Ranked {
  readonly meta: ConfigMeta;
  readonly name: string;
  readonly priority: number | undefined;
}

function byPriority(a: Ranked, b: Ranked): number {
  if (a.priority === b.priority) return 0;
  return (b.priority ?? Number.NEGATIVE_INFINITY) - (a.priority ?? Number.NEGATIVE_INFINITY);
}

function byNamespace(a: ConfigMeta, b: ConfigMeta, own: string): number {
  return Number(b.namespace === own) - Number(a.namespace === own);
}

function byAge(a: Ranked, b: Ranked): number {
  return a.meta.creationTimestampMs - b.meta.creationTimestampMs || byCodePoint(a.name, b.name);
}

/** Where a chain stands, as extensions ask it. */
export interface ExtensionPlace {
  readonly side: "CLIENT" | "SERVER";
  readonly port: number;
}

/** Whether an extension is meant for a chain: any of its selectors must hold. */
export function matchesPlace({ match }: Extension, { side, port }: ExtensionPlace): boolean {
  if (match.length === 0) return true;
  return match.some(({ mode = "UNDEFINED", ports = [] }) => {
    const ofSide = mode === "UNDEFINED" || mode === "CLIENT_AND_SERVER" || mode === side;
    return ofSide && (ports.length === 0 || ports.some(({ number }) => number !== 0 && number === port));
  });
}
