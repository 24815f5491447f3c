import type { AuthenticationPolicy } from "../../config/kinds/legacy/authentication-policy.ts";
import type { NodeId } from "../../legacy/node-id.ts";
import type { ConnectionManager, HttpFilter, Listener, RouteConfig } from "../documents.ts";
import { type LegacyMesh, usesMixer } from "../legacy-world.ts";
import { authenticationFilters } from "./authentication.ts";
import { type MixerService, mixerHttpFilter } from "./mixer.ts";

/** What an HTTP listener is about. */
export interface HttpListenerOptions {
  readonly ip: string;
  readonly port: number;
  /** A table of its own, or the name under which RDS has it. */
  readonly routes: RouteConfig | string;
  /** The proxy speaks for a client. */
  readonly outbound: boolean;
  /** Name of the operation in traces. */
  readonly operation: "ingress" | "egress";
  readonly useRemoteAddress: boolean;
  /** Services behind the proxy, for Mixer. */
  readonly services: readonly MixerService[];
  readonly policy: AuthenticationPolicy | undefined;
  readonly faults: readonly HttpFilter[];
  readonly bindToPort: boolean;
}

/** A listener with a connection manager. @see docs/how-istio-does-it/legacy-v1.md#filters */
export function httpListener(options: HttpListenerOptions, world: LegacyMesh, node: NodeId): Listener {
  const { mesh } = world;
  const { ip, port, routes } = options;
  // The authentication filter came with release 0.8.
  const isCompat = world.v1alpha3 !== undefined;
  const manager: ConnectionManager = {
    codec_type: "auto",
    stat_prefix: "http",
    ...(mesh.enableTracing ? { generate_request_id: true } : {}),
    ...(options.useRemoteAddress ? { use_remote_address: true } : {}),
    ...(mesh.enableTracing ? { tracing: { operation_name: options.operation } } : {}),
    ...(typeof routes === "string"
      ? { rds: { cluster: "rds", route_config_name: routes, refresh_delay_ms: mesh.rdsRefreshDelayMs } }
      : { route_config: routes }),
    filters: [
      ...authenticationFilters(options.policy).filter(({ name }) => !isCompat || name !== "istio_authn"),
      ...(usesMixer(mesh) ? [mixerHttpFilter(world, node, options.services, options.outbound)] : []),
      { type: "", name: "cors", config: {} },
      ...options.faults,
      { type: "decoder", name: "router", config: {} },
    ],
    access_log: mesh.accessLogFile === "" ? null : [{ path: mesh.accessLogFile }],
  };
  return {
    address: `tcp://${ip}:${port}`,
    name: `http_${ip}_${port}`,
    filters: [{ type: "read", name: "http_connection_manager", config: manager }],
    bind_to_port: options.bindToPort,
  };
}
