import { z } from "zod";
import type { EnvoyFilter } from "../kinds/envoy-filter.ts";
import { message } from "./message.ts";
import { int32, stringMap, struct, text, uint32 } from "./scalars.ts";
import { labelsSelector, targetReference } from "./selector.ts";

const filter = message({ plain: { name: text }, kept: { subFilter: message({ plain: { name: text } }) } });

const match = message({
  plain: { context: z.enum(["ANY", "SIDECAR_INBOUND", "SIDECAR_OUTBOUND", "GATEWAY", "WAYPOINT"]) },
  kept: {
    proxy: message({ plain: { proxyVersion: text, metadata: stringMap } }),
    listener: message({
      plain: { portNumber: uint32, portName: text, listenerFilter: text, name: text },
      kept: {
        filterChain: message({
          plain: {
            name: text,
            sni: text,
            transportProtocol: text,
            applicationProtocols: text,
            destinationPort: uint32,
            transportSocket: text,
          },
          kept: { filter },
        }),
      },
    }),
    routeConfiguration: message({
      plain: { portNumber: uint32, portName: text, gateway: text, name: text },
      kept: {
        vhost: message({
          plain: { name: text, domainName: text },
          kept: {
            route: message({ plain: { name: text, action: z.enum(["ANY", "ROUTE", "REDIRECT", "DIRECT_RESPONSE"]) } }),
          },
        }),
      },
    }),
    cluster: message({ plain: { portNumber: uint32, service: text, subset: text, name: text } }),
    waypoint: message({
      plain: { portNumber: uint32 },
      kept: { filter, route: message({ plain: { name: text } }) },
    }),
  },
});

const patch = message({
  required: {
    operation: z
      .enum([
        "INVALID",
        "MERGE",
        "ADD",
        "REMOVE",
        "INSERT_BEFORE",
        "INSERT_AFTER",
        "INSERT_FIRST",
        "REPLACE",
        "MERGE_AND_REPLACE_LIST",
      ])
      .default("INVALID"),
  },
  plain: { filterClass: z.enum(["UNSPECIFIED", "AUTHN", "AUTHZ", "STATS"]) },
  kept: { value: struct },
});

export const envoyFilter: z.ZodType<EnvoyFilter> = message({
  plain: {
    targetRefs: targetReference.array(),
    configPatches: message({
      required: {
        applyTo: z
          .enum([
            "INVALID",
            "LISTENER",
            "FILTER_CHAIN",
            "NETWORK_FILTER",
            "HTTP_FILTER",
            "ROUTE_CONFIGURATION",
            "VIRTUAL_HOST",
            "HTTP_ROUTE",
            "CLUSTER",
            "EXTENSION_CONFIG",
            "BOOTSTRAP",
            "LISTENER_FILTER",
          ])
          .default("INVALID"),
        patch,
      },
      kept: { match },
    }).array(),
    priority: int32,
  },
  kept: { workloadSelector: labelsSelector },
});
