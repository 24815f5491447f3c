import { type ConfigKey, type Diagnostic, errorsOf } from "../../base/diagnostic.ts";
import { nearestName } from "../../base/nearest-name.ts";
import { fieldsOf, isFields } from "../../base/untyped.ts";
import type { Config } from "../config.ts";
import type { ParsedObject } from "../documents/parse.ts";
import { meantKeys } from "../documents/unknown-kind.ts";
import { isDryRun } from "../dry-run.ts";
import { schemaOf } from "../kind-registry.ts";
import type { PeerAuthentication } from "../kinds/peer-authentication.ts";
import type { PolicyTarget } from "../kinds/selector.ts";
import { closedAnnotation, closedProxiesAnnotation, httpOnlyAnnotation } from "../made-annotations.ts";
import { metaOf, type ReadOptions } from "../read-config.ts";
import { envelopeFields } from "../rules/envelope.ts";
import { closeAuthorization, denyAll } from "./close-authorization.ts";
import { closeBackendTls, closeDestinationRule } from "./close-connections.ts";
import { closePatches } from "./close-patches.ts";
import { closeSidecar } from "./close-sidecar.ts";
import { closeTokens } from "./close-tokens.ts";
import type { ClosedObject, Closing } from "./closed-object.ts";
import { type ReadTarget, readTarget } from "./read-target.ts";

/** Kinds whose objects protect something, so that none of their fields may be ignored. */
const securityKinds: ReadonlySet<string> = new Set([
  "AuthorizationPolicy",
  "PeerAuthentication",
  "RequestAuthentication",
]);

const securityGroup = "security.istio.io";

/** Kinds of which some objects protect something; the last four are those of Istio up to 1.5. */
const otherKinds: ReadonlySet<string> = new Set([
  "EnvoyFilter",
  "Sidecar",
  "TrafficExtension",
  "WasmPlugin",
  "DestinationRule",
  "BackendTLSPolicy",
  "Policy",
  "MeshPolicy",
  "RbacConfig",
  "ClusterRbacConfig",
]);

/** Kinds whose objects count in the whole mesh, wherever they are. */
const meshKinds: ReadonlySet<string> = new Set(["MeshPolicy", "RbacConfig", "ClusterRbacConfig"]);

/** Whether an object of the key is one of the kinds that fail closed as a whole. */
export const isSecurityKind = ({ group, kind }: Pick<ConfigKey, "group" | "kind">): boolean =>
  group === securityGroup && securityKinds.has(kind);

export interface CloseOptions extends ReadOptions {
  /** Nobody can say in which namespace the object is: it closes the whole mesh. False when absent. */
  readonly isPlaceUnknown?: boolean;
}

/** What is wrong with the namespace of an object, or with a field that was meant to name it. */
const isAboutNamespace = ({ code, path: [root, field] }: Diagnostic): boolean =>
  root === "metadata" &&
  (field === "namespace" || (code === "unknown-field" && nearestName(String(field), ["namespace"]) !== undefined));

/** The fields of an envelope; what stands beside them is taken for a field of the spec. */
const envelope: ReadonlySet<string> = new Set(envelopeFields);

/** The spec, with the fields that stand beside it, and its errors. Under a misspelt name it is the spec all the same. */
function withFieldsBeside({ origin: _origin, ...object }: ParsedObject, errors: readonly Diagnostic[]) {
  const beside = Object.entries(object).filter(([name]) => !envelope.has(name));
  if (beside.length === 0) return { spec: object.spec, errors };
  const isSpec = ([name, value]: readonly [string, unknown]) =>
    isFields(value) && nearestName(name, ["spec"]) !== undefined;
  const [, meant = JSON.stringify(object)] = beside.find(isSpec) ?? [];
  const spec = object.spec === undefined ? meant : { ...Object.fromEntries(beside), ...fieldsOf(object.spec) };
  const moved = errors.map((one) =>
    envelope.has(String(one.path[0])) ? one : { ...one, path: ["spec", ...one.path] },
  );
  return { spec, errors: moved };
}

/**
 * What closes the workloads that a refused object was to protect.
 *
 * @param object that was refused, in today's spelling of its kind
 * @param diagnostics what was said of it
 * @returns undefined for an object that protects nothing: of another kind, an AUDIT policy or one that is only tried out
 */
export function closeObject(
  object: ParsedObject,
  diagnostics: readonly Diagnostic[],
  options: CloseOptions = {},
): ClosedObject | undefined {
  const found = errorsOf(diagnostics);
  const key = meantKey(object, found);
  if (key === undefined) return undefined;
  const { spec, errors } = withFieldsBeside(object, found);
  const read = readTarget(spec, errors);
  const { isPlaceUnknown = found.some(isAboutNamespace) } = options;
  const made = createMaker(object, key, read, { ...options, isPlaceUnknown });
  switch (key.kind) {
    case "AuthorizationPolicy": {
      if (isDryRun(object.metadata.annotations)) return undefined;
      const closed = closeAuthorization(spec, errors, read.target);
      if (closed === undefined) return undefined;
      const { valid } = closed;
      return made(
        closed.closing,
        [["AuthorizationPolicy", closed.spec]],
        valid === undefined ? [] : [["AuthorizationPolicy", valid]],
      );
    }
    case "PeerAuthentication": {
      const { selector } = read.target;
      const strict: PeerAuthentication = { ...(selector === undefined ? {} : { selector }), mtls: { mode: "STRICT" } };
      return made("mutual-tls", [["PeerAuthentication", strict]]);
    }
    case "RequestAuthentication": {
      const closed = closeTokens(spec, errors, read.target);
      if (!closed.mayRequire) return made("tokens-refused", [["RequestAuthentication", closed.spec]]);
      return made("tokens-required", [
        ["RequestAuthentication", closed.spec],
        ["AuthorizationPolicy", denyWithoutToken(read.target), { [httpOnlyAnnotation]: "true" }],
      ]);
    }
    case "EnvoyFilter": {
      const closed = closePatches(spec, errors);
      if (closed === undefined) return undefined;
      if (closed.closing !== "denied") return made(closed.closing, [["EnvoyFilter", closed.spec]]);
      const { proxies } = closed;
      const annotations = proxies === undefined ? {} : { [closedProxiesAnnotation]: proxies };
      return {
        ...made("denied", [["AuthorizationPolicy", denyAll(read.target), annotations]]),
        ...(proxies === undefined ? {} : { proxies }),
      };
    }
    case "Sidecar": {
      const closed = closeSidecar(spec, errors, read);
      if (closed === undefined) return undefined;
      return {
        ...made("calls-refused", [
          ["Sidecar", closed.spec],
          ...(closed.losesTls ? [["AuthorizationPolicy", denyAll(read.target)] as const] : []),
        ]),
        ...(closed.isByDefault ? { onlyInRegistryMesh: true } : {}),
      };
    }
    case "DestinationRule": {
      const rule = closeDestinationRule(spec);
      return rule === undefined ? undefined : made("connections-refused", [["DestinationRule", rule]]);
    }
    case "BackendTLSPolicy": {
      const policy = closeBackendTls(spec);
      return policy === undefined ? undefined : made("connections-refused", [["BackendTLSPolicy", policy]]);
    }
    case "RbacConfig":
    case "ClusterRbacConfig":
      return made("denied", [["AuthorizationPolicy", denyAll({})]]);
    case "Policy":
    case "MeshPolicy":
      return closeLegacyPolicy(spec, made);
    case "TrafficExtension":
    case "WasmPlugin":
      return isGuard(spec) ? made("denied", [["AuthorizationPolicy", denyAll(read.target)]]) : undefined;
    default:
      return undefined;
  }
}

/** The key of the valid object that a refused one stands for; undefined where that is of a kind that closes nothing. */
function meantKey({ origin: { key } }: ParsedObject, errors: readonly Diagnostic[]): ConfigKey | undefined {
  const isSlip = errors.some(({ code }) => code === "unknown-kind");
  // Whatever else stands in the group of policies was to protect something.
  const inGroup = isSlip && key.group === securityGroup ? [{ ...key, kind: "AuthorizationPolicy" }] : [];
  return [key, ...(isSlip ? meantKeys(key) : []), ...inGroup].find(
    ({ group, kind }) => (securityKinds.has(kind) || otherKinds.has(kind)) && schemaOf(group, kind) !== undefined,
  );
}

/** One that may ask for tokens denies requests, since nobody knows to which ports of its services it applies. */
function closeLegacyPolicy(spec: unknown, made: ReturnType<typeof createMaker>): ClosedObject {
  const strict = ["PeerAuthentication", { mtls: { mode: "STRICT" } }] as const;
  const mayAskForTokens = !isFields(spec) || /"(?:origins|jwt)"/.test(JSON.stringify(spec));
  return mayAskForTokens
    ? made("denied", [["AuthorizationPolicy", denyAll({})], strict])
    : made("mutual-tls", [strict]);
}

type Made = readonly [kind: string, spec: unknown, annotations?: Readonly<Record<string, string>>];

function createMaker(object: ParsedObject, key: ConfigKey, read: ReadTarget, options: CloseOptions) {
  const { isPlaceUnknown = false } = options;
  const isMeshWide = isPlaceUnknown || meshKinds.has(key.kind);
  const namespace = isMeshWide ? "" : key.namespace || options.namespace || "default";
  // What legacy policies are about is named by services.
  const isRead = read.isRead && !key.group.startsWith("authentication.");
  const origin = { ...object.origin, key: { ...key, namespace: isMeshWide ? key.namespace : namespace } };
  const configOf = ([kind, spec, annotations = {}]: Made, isBeside: boolean): Config => {
    const schema = schemaOf(kind === key.kind ? key.group : securityGroup, kind);
    if (schema === undefined) throw new Error(`no schema of ${kind}`);
    const meta = metaOf(object, schema, schema.versions[0] ?? "", options);
    return {
      meta: {
        ...meta,
        namespace,
        // No object of the mesh has a name with a colon.
        name: kind === key.kind && !isBeside ? key.name : `closed:${key.kind}:${key.name}`,
        annotations: { [closedAnnotation]: isRead ? "target" : "namespace", ...annotations },
      },
      spec,
      origin,
      madeFrom: {},
    };
  };
  return (closing: Closing, objects: readonly Made[], beside: readonly Made[] = []): ClosedObject => ({
    origin,
    closing,
    target: read.target,
    configs: objects.map((one) => configOf(one, false)),
    beside: beside.map((one) => configOf(one, true)),
  });
}

/** Requests that bring no valid token. */
const denyWithoutToken = (target: PolicyTarget) => ({
  ...target,
  action: "DENY",
  rules: [{ from: [{ source: { notRequestPrincipals: ["*"] } }] }],
});

/**
 * Whether a plugin may decide which requests pass: its code is not known, and by default nothing passes where it cannot be loaded. One
 * that only counts does not, nor one without a phase that fails open.
 */
function isGuard(spec: unknown): boolean {
  if (!isFields(spec)) return true;
  const { phase } = spec;
  const isPlain = phase === undefined || phase === null || phase === "UNSPECIFIED_PHASE";
  return isPlain ? !JSON.stringify(spec).includes('"FAIL_OPEN"') : phase !== "STATS";
}
