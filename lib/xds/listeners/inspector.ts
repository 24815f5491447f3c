import type {
  ListenerFilterChainMatchPredicateJson,
  ListenerFilterJson,
} from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { TlsInspectorJson } from "../../../gen/envoy/extensions/filters/listener/tls_inspector/v3/tls_inspector_pb.ts";
import { packAny } from "../core-messages.ts";

/** Enough for nearly every ClientHello; Envoy reads on where it is not. */
const tlsInspectorConfig: TlsInspectorJson = { initialReadBufferSize: 512 };

/** Tells TLS from plain traffic, and reads server name and ALPN. */
export const tlsInspector: ListenerFilterJson = {
  name: "envoy.filters.listener.tls_inspector",
  typedConfig: packAny("envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector", tlsInspectorConfig),
};

/** Tells HTTP from other plain traffic. */
export const httpInspector: ListenerFilterJson = {
  name: "envoy.filters.listener.http_inspector",
  typedConfig: packAny("envoy.extensions.filters.listener.http_inspector.v3.HttpInspector", {}),
};

/** What the chains of one port want to know; port 0 stands for chains of every port. */
export interface PortNeeds {
  readonly tls: boolean;
  readonly http: boolean;
}

/**
 * Inspectors of an inbound listener, each switched off for the ports that do not need it: a server that speaks first
 * would wait for bytes that never come. An inspector that no port needs is left out.
 *
 * @see docs/how-istio-does-it/listeners.md#virtualinbound
 */
export function inboundInspectors(needs: ReadonlyMap<number, PortNeeds>): readonly ListenerFilterJson[] {
  const all = [...needs].sort(([a], [b]) => a - b);
  const ports = (want: (needs: PortNeeds) => boolean): number[] =>
    all.filter(([port, need]) => port !== 0 && want(need)).map(([port]) => port);
  const filters: ListenerFilterJson[] = [];
  if (all.some(([, need]) => need.tls)) {
    const everywhere = needs.get(0)?.tls === true;
    filters.push(
      everywhere
        ? switchedOff(tlsInspector, anyOf(ports((need) => !need.tls)))
        : switchedOff(tlsInspector, not(anyOf(ports((need) => need.tls)))),
    );
  }
  if (all.some(([, need]) => need.http)) {
    // Unlike above, chains of every port that need none are named as port 0.
    const idle = all.filter(([, need]) => !need.http).map(([port]) => port);
    filters.push(switchedOff(httpInspector, anyOf(idle)));
  }
  return filters;
}

function switchedOff(
  filter: ListenerFilterJson,
  filterDisabled: ListenerFilterChainMatchPredicateJson | undefined,
): ListenerFilterJson {
  return filterDisabled === undefined ? filter : { ...filter, filterDisabled };
}

function anyOf(ports: readonly number[]): ListenerFilterChainMatchPredicateJson | undefined {
  const rules = ports.map((port) => ({
    destinationPortRange: { ...(port === 0 ? {} : { start: port }), end: port + 1 },
  }));
  return rules.length > 1 ? { orMatch: { rules } } : rules[0];
}

function not(
  predicate: ListenerFilterChainMatchPredicateJson | undefined,
): ListenerFilterChainMatchPredicateJson | undefined {
  return predicate === undefined ? undefined : { notMatch: predicate };
}
