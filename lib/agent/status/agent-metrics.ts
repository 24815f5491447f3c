import { coreTypes } from "../../snapshot/resource-type.ts";
import type { AgentStatus } from "../agent.ts";
import type { IdentityState } from "../identity/identity-files.ts";

/** What a process has taken of its machine. */
export interface ProcessCosts {
  readonly residentBytes: number;
  readonly cpuSeconds: number;
}

/** Errors of the sockets of the agent's own servers, by server. */
export type SocketErrors = Readonly<Record<"dns" | "status" | "xds", number>>;

/** The agent's own metrics, in Prometheus' text format. */
export function agentMetrics(
  status: AgentStatus,
  { residentBytes, cpuSeconds }: ProcessCosts,
  socketErrors: SocketErrors,
  certificate?: IdentityState,
): string {
  const { refused } = status;
  return [
    metric("envoy_up", "gauge", "Whether an Envoy runs.", status.pid === undefined ? 0 : 1),
    metric("source_reachable", "gauge", "Whether what is new can be learnt.", status.trouble === undefined ? 1 : 0),
    metric("changes_total", "counter", "How often Envoy was led to something new.", status.changes),
    metric("envoy_starts_total", "counter", "How often Envoy was started.", status.starts),
    head("refused_resources", "gauge", "Resources that Envoy refuses now."),
    ...coreTypes.map(
      (type) => `${prefix}refused_resources{type="${type}"} ${refused.filter((one) => one.type === type).length}`,
    ),
    head("socket_errors_total", "counter", "Errors of the agent's own servers; each lost one question or connection."),
    ...(["dns", "status", "xds"] as const).map(
      (server) => `${prefix}socket_errors_total{server="${server}"} ${socketErrors[server]}`,
    ),
    ...(certificate === undefined ? [] : certificateMetrics(certificate)),
    metric("resident_memory_bytes", "gauge", "Memory of the agent's process.", residentBytes),
    metric("cpu_seconds_total", "counter", "Time that the agent's process has had on cores.", cpuSeconds),
    "",
  ].join("\n");
}

const certificateMetrics = ({ notAfterMs, isFailing }: IdentityState): readonly string[] => [
  metric(
    "certificate_renewal_failing",
    "gauge",
    "Whether the last attempt to renew the workload's certificate has failed.",
    isFailing ? 1 : 0,
  ),
  ...(notAfterMs === undefined
    ? []
    : [
        metric(
          "certificate_expiry_timestamp_seconds",
          "gauge",
          "Until when the workload's certificate is good, in Unix time.",
          notAfterMs / 1_000,
        ),
      ]),
];

const prefix = "portolan_agent_";

const head = (name: string, type: "gauge" | "counter", help: string): string =>
  `# HELP ${prefix}${name} ${help}\n# TYPE ${prefix}${name} ${type}`;

const metric = (name: string, type: "gauge" | "counter", help: string, value: number): string =>
  `${head(name, type, help)}\n${prefix}${name} ${value}`;
