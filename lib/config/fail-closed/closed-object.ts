import { type Diagnostic, type Origin, unreachable } from "../../base/diagnostic.ts";
import { fieldsOf, listOf } from "../../base/untyped.ts";
import type { Config } from "../config.ts";
import type { PolicyTarget } from "../kinds/selector.ts";
import { closedAnnotation } from "../made-annotations.ts";

/** What is done about a refused security object of which no valid form is known. */
export const securityFailures = ["close", "open", "refuse"] as const;

/**
 * `close`: what the object selects is closed; `open`: the object is left out, and what it protected is open; `refuse`: nothing is
 * published.
 */
export type SecurityFailure = (typeof securityFailures)[number];

/** What closing means for requests to what is selected. */
export type Closing =
  | "denied"
  | "only-valid-rules"
  | "only-valid-patches"
  | "clusters-refused"
  | "authorizer-asked"
  | "mutual-tls"
  | "tokens-refused"
  | "tokens-required"
  | "connections-refused"
  | "calls-refused";

/** The type of the proxies that are closed, as nodes name it. */
export type ClosedProxies = "sidecar" | "router";

/** What takes the place of a refused security object as long as no valid form of it is known. */
export interface ClosedObject {
  /** Of the refused object; its key is that of the valid object that it stands for. */
  readonly origin: Origin;
  /** Objects that close what the refused one selects. A namespace of "" stands for the root namespace. */
  readonly configs: readonly Config[];
  /** Objects that count beside the last valid form, where one is served: they deny what the valid rules of the refused form deny. */
  readonly beside: readonly Config[];
  readonly closing: Closing;
  /** The workloads that are closed. */
  readonly target: PolicyTarget;
  /** Those of them that are closed, by their type; absent: all. */
  readonly proxies?: ClosedProxies;
  /** It counts where the mesh's own default is REGISTRY_ONLY, and nowhere else. False when absent. */
  readonly onlyInRegistryMesh?: boolean;
}

/** Whether an object stands in for a refused one. */
export const isStandIn = ({ meta, madeFrom }: Config): boolean =>
  madeFrom !== undefined && meta.annotations[closedAnnotation] !== undefined;

/** Whether it closes a whole namespace, since what the refused object selects cannot be read. */
export const closesNamespace = (config: Config): boolean =>
  isStandIn(config) && config.meta.annotations[closedAnnotation] === "namespace";

/**
 * Says what is closed.
 *
 * @returns `security-closed`
 */
export function closedDiagnostic(closed: ClosedObject, rootNamespace: string): Diagnostic {
  return {
    code: "security-closed",
    severity: "warning",
    origin: closed.origin,
    path: [],
    message: `is refused, and no valid form of it is known, so it fails closed: ${closingText(closed, rootNamespace)}`,
    hint: "correct the object or delete it; render a template or a patch first",
  };
}

/**
 * Says what is open.
 *
 * @returns `security-open`
 */
export function openDiagnostic(closed: ClosedObject, rootNamespace: string): Diagnostic {
  return {
    code: "security-open",
    severity: "warning",
    origin: closed.origin,
    path: [],
    message: `is refused and left out, since securityFailure is open: nothing of it protects ${targetText(closed, rootNamespace)}`,
    hint: "correct the object or delete it; render a template or a patch first",
  };
}

/** Whether a diagnostic says what is closed, or open, because of a refused security object. */
export const isSecurityFailure = ({ code }: Pick<Diagnostic, "code">): boolean =>
  code === "security-closed" || code === "security-open";

/** What happens to requests, in one clause. */
function closingText(closed: ClosedObject, rootNamespace: string): string {
  const target = targetText(closed, rootNamespace);
  switch (closed.closing) {
    case "denied":
      return `requests to ${target} are denied`;
    case "only-valid-rules":
      return `of its rules only the valid ones allow requests to ${target}`;
    case "only-valid-patches":
      return `only its valid patches apply to ${target}`;
    case "clusters-refused":
      return `connections to the clusters that its patches of TLS match fail, from ${target}`;
    case "authorizer-asked":
      return `the external authorizer is asked about all requests to ${target}`;
    case "mutual-tls":
      return `${target} take mutual TLS only`;
    case "tokens-refused":
      return `tokens in requests to ${target} are refused`;
    case "tokens-required":
      return `requests to ${target} are denied, with and without a token`;
    case "connections-refused":
      return `connections to ${serversText(closed)} fail`;
    case "calls-refused":
      return `${target} reach only what its valid listeners import${closed.configs.length > 1 ? ", and requests to them are denied" : ""}`;
    default:
      return unreachable(closed.closing);
  }
}

/** Of a DestinationRule its host, of a BackendTLSPolicy its services. */
function serversText({ configs }: ClosedObject): string {
  const { host, targetRefs } = fieldsOf(configs[0]?.spec);
  return host === undefined ? namesOf(listOf(targetRefs).map(fieldsOf), configs) : String(host);
}

function targetText({ configs, target, proxies }: ClosedObject, rootNamespace: string): string {
  const namespace = configs[0]?.meta.namespace ?? "";
  const refs = target.targetRefs ?? (target.targetRef === undefined ? [] : [target.targetRef]);
  if (refs.length > 0) return namesOf(refs, configs);
  const place = namespace === "" || namespace === rootNamespace ? "the mesh" : `namespace ${namespace}`;
  const labels = Object.entries(target.selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const what = proxies === undefined ? "workloads" : proxies === "router" ? "gateways" : "sidecars";
  return labels.length === 0 ? `all ${what} of ${place}` : `the ${what} of ${place} with ${labels.join(", ")}`;
}

const namesOf = (
  refs: readonly { readonly kind?: unknown; readonly name?: unknown }[],
  configs: readonly Config[],
): string => refs.map(({ kind, name }) => `${kind} ${configs[0]?.meta.namespace ?? ""}/${name}`).join(", ");
