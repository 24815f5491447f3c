import type { WorkloadEntry } from "./workload-entry.ts";

/**
 * `networking.istio.io` WorkloadGroup. Its annotations are settings of the proxies of the WorkloadEntries that machines make of
 * it when they connect; nothing else of it is served.
 * @see https://istio.io/latest/docs/reference/config/networking/workload-group/
 */
export interface WorkloadGroup {
  readonly metadata?: WorkloadGroupMetadata;
  readonly template: WorkloadEntry;
  readonly probe?: ReadinessProbe;
}

export interface WorkloadGroupMetadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** One of the four methods. Absent numbers: timeout 1, period 10, success 1, failure 3 (seconds and counts). */
export interface ReadinessProbe {
  readonly initialDelaySeconds?: number;
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly httpGet?: HTTPHealthCheckConfig;
  readonly tcpSocket?: TCPHealthCheckConfig;
  readonly exec?: ExecHealthCheckConfig;
  readonly grpc?: GrpcHealthCheckConfig;
}

export interface HTTPHealthCheckConfig {
  readonly path?: string;
  readonly port: number;
  readonly host?: string;
  readonly scheme?: string;
  readonly httpHeaders?: readonly HTTPHeader[];
}

export interface HTTPHeader {
  readonly name?: string;
  readonly value?: string;
}

export interface TCPHealthCheckConfig {
  readonly host?: string;
  readonly port: number;
}

export interface ExecHealthCheckConfig {
  readonly command: readonly string[];
}

export interface GrpcHealthCheckConfig {
  readonly port?: number;
  readonly service?: string;
}
