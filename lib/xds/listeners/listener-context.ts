import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import type { MeshNetworks } from "../../config/kinds/mesh-networks.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { trackedQuery } from "../../incremental/tracked-query.ts";
import type { MeshSettings } from "../../mesh/mesh-settings.ts";
import type { SidecarScope } from "../../mesh/scope/sidecar-scope.ts";
import type {
  ClassProxy,
  ListenerOptions,
  OutboundListenerView,
  TracingView,
  WorkloadPolicies,
} from "../../mesh/views/views.ts";
import { type StatsFilters, statsFilters } from "../istio-proxy/stats-filters.ts";
import { type AccessLogs, accessLogs } from "../telemetry/access-logging.ts";
import { type ProviderCluster, type ScopedProviders, scopedProviders } from "../telemetry/provider-cluster.ts";
import { providerDiagnostics } from "../telemetry/provider-diagnostics.ts";
import type { TelemetrySide } from "../telemetry/telemetry-side.ts";
import { type ConnectionTracing, connectionTracing } from "../telemetry/tracing.ts";
import { externalSecretServer } from "../tls/downstream-credential.ts";
import type { TlsSide } from "../tls/downstream-server.ts";
import { loopbackAddresses, wildcardAddresses } from "./bind.ts";
import { type ListenerClass, type PolicyFilters, policyFilters } from "./filters/policy-filters.ts";

/** Logs, metrics and tracing of one side of a proxy. */
export interface SideTelemetry extends ConnectionTracing {
  readonly logs: AccessLogs;
  readonly stats: StatsFilters;
}

/**
 * What every part of one class's listeners is made from beside services, rules, virtual services and servers: one object, for
 * all classes with the same, as long as it says the same.
 */
export interface ListenerContext extends Inputs {
  readonly wildcards: readonly [string, ...string[]];
  readonly loopbacks: readonly [string, ...string[]];
}

interface Inputs {
  readonly mesh: MeshSettings;
  readonly meshNetworks: MeshNetworks;
  readonly proxy: ClassProxy;
  readonly options: ListenerOptions;
  readonly policies: PolicyFilters;
  readonly client: SideTelemetry;
  readonly server: SideTelemetry;
  readonly sourceLabels: Readonly<Record<string, string>>;
  readonly outboundTrafficPolicy: SidecarScope["outboundTrafficPolicy"];
  /** The mesh's SDS provider, if it has one. */
  readonly secretServer: ProviderCluster | undefined;
}

const listenerContext = query(
  "listener context",
  { sourceLabels: "value", outboundTrafficPolicy: "value", secretServer: "value" },
  (inputs: Inputs): ListenerContext => ({
    ...inputs,
    wildcards: wildcardAddresses(inputs.proxy.ipMode),
    loopbacks: loopbackAddresses(inputs.proxy.ipMode),
  }),
);

/** The context of a view, and what making it found wrong. */
export function contextOf(view: OutboundListenerView, memo: Memo): Stage<ListenerContext> {
  const { lookups, scope, proxy, options, policies, calledPolicies, sourceLabels, tracing } = view;
  return contextOfView(memo, { lookups, scope, proxy, options, policies, calledPolicies, sourceLabels, tracing });
}

type ContextView = Omit<OutboundListenerView, "key" | "destinationRule" | "ownAddresses">;

/** By what of a view it is made from: views that differ in what they serve have one. */
const contextOfView = query("context of a view", (view: ContextView, memo: Memo): Stage<ListenerContext> => {
  const { lookups, scope, proxy, options, sourceLabels, tracing } = view;
  const providers = scopedProviders(view);
  const policies = policyFilters(view, providers, memo);
  const { telemetry } = view.policies;
  const telemetryOfSide = (side: TelemetrySide): SideTelemetry =>
    sideTelemetry(memo, { telemetry, tracing, proxy, side }, providers).value;
  const value = listenerContext(memo, {
    mesh: lookups.mesh,
    meshNetworks: lookups.meshNetworks,
    proxy,
    options,
    policies: policies.value,
    client: telemetryOfSide("CLIENT"),
    server: telemetryOfSide("SERVER"),
    sourceLabels,
    outboundTrafficPolicy: scope.outboundTrafficPolicy,
    secretServer: externalSecretServer(providers),
  });
  return { value, diagnostics: [...policies.diagnostics, ...providerDiagnostics(telemetry, providers)] };
});

interface TelemetryInputs {
  readonly telemetry: WorkloadPolicies["telemetry"];
  readonly tracing: TracingView;
  readonly proxy: ClassProxy;
  readonly side: TelemetrySide;
}

const sideTelemetry = trackedQuery(
  "telemetry of a side",
  ({ telemetry, side, ...view }: TelemetryInputs, providers: ScopedProviders): SideTelemetry => ({
    logs: accessLogs(telemetry, side, providers),
    stats: statsFilters(telemetry, view.proxy, side, providers),
    ...connectionTracing(telemetry, view, side, providers),
  }),
);

/** Gateways and the outbound side are clients of what stands behind them. */
export function telemetryOf({ client, server }: ListenerContext, listenerClass: ListenerClass): SideTelemetry {
  return listenerClass === "inbound" ? server : client;
}

/** For TLS that ends at the proxy. */
export const tlsSide = ({ mesh, secretServer, options }: ListenerContext): TlsSide => ({
  mesh,
  secretServer,
  files: options.tlsServerFiles,
});

/** The making of one class's listeners: what walks over its services and servers have at hand, and steps are not handed. */
export interface ListenerWalk<View extends OutboundListenerView = OutboundListenerView> {
  readonly view: View;
  readonly context: ListenerContext;
  readonly memo: Memo;
  /** Reports a conflict or an object left out. */
  readonly report: (diagnostic: Diagnostic) => void;
}
