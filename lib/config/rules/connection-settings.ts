import { durationMs } from "../../base/duration.ts";
import { error, type Finding, info, type Path } from "../finding.ts";
import type { ConnectionSettings } from "../kinds/mesh-proxy-config.ts";

/** Envoy takes no smaller windows. */
const leastWindow = 65_535;

const least: { readonly [Name in keyof ConnectionSettings]?: number } = {
  listenerPerConnectionBufferLimitBytes: 0,
  clusterPerConnectionBufferLimitBytes: 0,
  httpMaxConcurrentStreams: 1,
  http2InitialStreamWindowSize: leastWindow,
  http2InitialConnectionWindowSize: leastWindow,
  listenerConnectionLimit: 1,
  globalDownstreamConnectionLimit: 1,
};

const durations = [
  "httpIdleTimeout",
  "httpMaxConnectionDuration",
  "httpDrainTimeout",
  "httpRequestTimeout",
  "httpRequestHeadersTimeout",
  "httpStreamIdleTimeout",
  "httpMaxStreamDuration",
] as const;

/** Istio reads and checks them, and writes them nowhere. */
const unwritten = ["clusterPerConnectionBufferLimitBytes", "listenerConnectionLimit"] as const;

/** Rules of `connectionSettings` of a ProxyConfig. */
export function* connectionSettingsRules(settings: ConnectionSettings, path: Path): Generator<Finding> {
  for (const [name, value] of Object.entries(settings)) {
    const bound = least[name as keyof ConnectionSettings];
    if (bound === undefined || typeof value !== "number" || value >= bound) continue;
    yield error([...path, name], bound === 0 ? `${value} must not be negative` : `${value} must be at least ${bound}`);
  }
  for (const name of durations) {
    const text = settings[name];
    if (text !== undefined && durationMs(text) < 0) yield error([...path, name], `${text} must not be negative`);
  }
  for (const name of unwritten) {
    if (settings[name] !== undefined) yield info([...path, name], "has no effect: Istio 1.31 does not write it either");
  }
}
