import { z } from "zod";
import type { LabelSelector } from "../../kinds/selector.ts";
import type { GatewayClass, KubernetesGateway, ListenerSet } from "../gateway.ts";
import {
  addressType,
  anyText,
  controllerName,
  fields,
  groupName,
  hostname,
  kindName,
  labelValue,
  listOf,
  mapOf,
  namespaceName,
  objectName,
  portNumber,
  protocolName,
  sectionName,
  uniqueListOf,
} from "./fields.ts";
import { listenerFilters } from "./filters.ts";
import { gatewayGroup, localObjectReference, objectReference, secretReference } from "./references.ts";

export const gatewayClass: z.ZodType<GatewayClass> = fields(
  { controllerName },
  { description: anyText(64), parametersRef: objectReference },
);

const labelSelector: z.ZodType<LabelSelector> = fields(
  {},
  {
    matchLabels: z.record(z.string(), z.string()),
    matchExpressions: z.array(fields({ key: z.string(), operator: z.string() }, { values: z.array(z.string()) })),
  },
);

const allowedRoutes = fields(
  {
    namespaces: fields(
      { from: z.enum(["All", "Selector", "Same"]).default("Same") },
      { selector: labelSelector },
    ).default({ from: "Same" }),
  },
  { kinds: listOf(fields({ group: groupName.default(gatewayGroup), kind: kindName }, {}), 8) },
).default({ namespaces: { from: "Same" } });

const listenerTls = fields(
  { mode: z.enum(["Terminate", "Passthrough"]).default("Terminate") },
  { certificateRefs: listOf(secretReference, 64), options: mapOf(anyText(4096), 16) },
);

const listener = fields(
  { name: sectionName, port: portNumber, protocol: protocolName, allowedRoutes },
  { hostname, tls: listenerTls, filters: listenerFilters },
);
const listeners = uniqueListOf(listener, 64, ({ name }) => name, 1);

const frontendTls = fields(
  {},
  {
    validation: fields(
      {
        caCertificateRefs: listOf(objectReference, 16, 1),
        mode: z.enum(["AllowValidOnly", "AllowInsecureFallback"]).default("AllowValidOnly"),
      },
      {},
    ),
  },
);

export const kubernetesGateway: z.ZodType<KubernetesGateway> = fields(
  { gatewayClassName: objectName, listeners },
  {
    addresses: listOf(
      fields({ type: addressType.default("IPAddress") }, { value: anyText(253), routability: anyText(253) }),
      16,
    ),
    infrastructure: fields(
      {},
      { labels: mapOf(labelValue, 8), annotations: mapOf(anyText(4096), 16), parametersRef: localObjectReference },
    ),
    allowedListeners: fields(
      {
        namespaces: fields(
          { from: z.enum(["All", "Selector", "Same", "None"]).default("None") },
          { selector: labelSelector },
        ).default({ from: "None" }),
      },
      {},
    ),
    tls: fields(
      {},
      {
        backend: fields({}, { clientCertificateRef: secretReference }),
        frontend: fields(
          { default: frontendTls },
          { perPort: uniqueListOf(fields({ port: portNumber, tls: frontendTls }, {}), 64, ({ port }) => `${port}`) },
        ),
      },
    ),
    defaultScope: z.enum(["All", "None"]),
  },
);

export const listenerSet: z.ZodType<ListenerSet> = fields(
  {
    parentRef: fields(
      { group: groupName.default(gatewayGroup), kind: kindName.default("Gateway"), name: objectName },
      { namespace: namespaceName },
    ),
    listeners,
  },
  {},
);
