import { fieldsOf, listOf } from "../../base/untyped.ts";
import type { Finding } from "../finding.ts";
import type { Sidecar } from "../kinds/sidecar.ts";
import { sidecarRules } from "../rules/gateways/sidecar.ts";
import { sidecar } from "../schema/sidecar.ts";
import type { ReadTarget } from "./read-target.ts";
import { validSpec } from "./valid-spec.ts";

/** What a Sidecar comes to. */
export interface ClosedSidecar {
  readonly spec: Sidecar;
  /** A listener with TLS of its own is lost: its port would take plain text. */
  readonly losesTls: boolean;
  /** It says by its listeners alone where its workloads may call, which counts in a mesh whose default is REGISTRY_ONLY. */
  readonly isByDefault: boolean;
}

/** A policy for traffic to anywhere, other than one that allows it all, and hosts that are taken out. */
const limits = /outbound_?traffic_?policy\\?": ?(?!\{"mode":"ALLOW_ANY"[,}])|"~/i;

const allows = /"outboundTrafficPolicy": ?\{"mode":"ALLOW_ANY"[,}]/;

const none = { hosts: ["~/*"] };

/**
 * Closes a refused Sidecar that limits where its workloads may call, or may do so by a field that is not known: traffic to what is not
 * imported is refused, and what the valid listeners import stays. Without any they import nothing.
 *
 * @param raw the spec as written
 * @param errors of the object
 * @returns undefined for one that limits nothing in any mesh
 */
export function closeSidecar(
  raw: unknown,
  errors: readonly Pick<Finding, "code" | "path">[],
  { target, isRead }: ReadTarget,
): ClosedSidecar | undefined {
  const { ingress } = fieldsOf(raw);
  const hasTls = listOf(ingress).some((one) => fieldsOf(one).tls !== undefined);
  const text = JSON.stringify(raw) ?? "";
  const isLimited = hasTls || limits.test(text) || errors.some(({ code }) => code === "unknown-field");
  // Where the mode cannot be anything else it is as wide as without the Sidecar.
  if (!isLimited && (allows.test(text) || fieldsOf(raw).egress === undefined)) return undefined;
  const labels = target.selector?.matchLabels;
  const inbound = part(raw, ["ingress"]);
  return {
    spec: {
      ...(isRead && labels !== undefined ? { workloadSelector: { labels } } : {}),
      ...inbound,
      ...part(raw, ["inboundConnectionPool"]),
      egress: listenersOf(raw, errors),
      outboundTrafficPolicy: { mode: "REGISTRY_ONLY" },
    },
    losesTls: hasTls && inbound === undefined,
    isByDefault: !isLimited,
  };
}

/** The valid listeners, where nothing beside listeners may say what they import. */
function listenersOf(raw: unknown, errors: readonly Pick<Finding, "code" | "path">[]): NonNullable<Sidecar["egress"]> {
  const isElsewhere = errors.some(({ code, path }) => code === "unknown-field" && path.length === 2);
  if (isElsewhere) return [none];
  const all = listOf(fieldsOf(raw).egress);
  const bad = new Set(errors.filter(({ path }) => path[1] === "egress").map(({ path }) => path[2]));
  const egress = all.filter((_, index) => !bad.has(index));
  if (bad.has(undefined) || egress.length === 0) return [none];
  return part({ egress }, ["egress"])?.egress ?? [none];
}

/** Some of the fields; undefined where they are not there, or not valid by themselves. */
function part(raw: unknown, names: readonly (keyof Sidecar)[]): Sidecar | undefined {
  const fields = fieldsOf(raw);
  const entries = names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]] as const]));
  return entries.length === 0 ? undefined : validSpec(sidecar, Object.fromEntries(entries), sidecarRules);
}
