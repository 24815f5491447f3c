import { z } from "zod";
import { backendProtocols, type KubernetesBackend } from "../backend.ts";
import type { BackendTLSPolicy, BackendTrafficPolicy, ReferenceGrant } from "../backend-policy.ts";
import {
  anyText,
  fields,
  gatewayDuration,
  groupName,
  hostname,
  kindName,
  labelValue,
  listOf,
  mapOf,
  namespaceName,
  objectName,
  portNumber,
  preciseHostname,
  uniqueListOf,
  uri,
  wellKnownCertificates,
  wholeNumber,
} from "./fields.ts";
import { localObjectReference, policyTarget, secretReference } from "./references.ts";
import { backendPersistence, sessionPersistence } from "./routes.ts";

export const referenceGrant: z.ZodType<ReferenceGrant> = fields(
  {
    from: listOf(fields({ group: groupName, kind: kindName, namespace: namespaceName }, {}), 16, 1),
    to: listOf(fields({ group: groupName, kind: kindName }, { name: objectName }), 16, 1),
  },
  {},
);

const tlsValidation = fields(
  { hostname: preciseHostname },
  {
    caCertificateRefs: listOf(localObjectReference, 8),
    wellKnownCACertificates: wellKnownCertificates,
    subjectAltNames: listOf(fields({ type: z.enum(["Hostname", "URI"]) }, { hostname, uri }), 5),
  },
);

export const backendTlsPolicy: z.ZodType<BackendTLSPolicy> = fields(
  { targetRefs: listOf(policyTarget, 16, 1), validation: tlsValidation },
  { options: mapOf(anyText(4096), 16) },
);

export const kubernetesBackend: z.ZodType<KubernetesBackend> = fields(
  {
    type: z.enum(["ExternalHostname", "EndpointSelector"]),
    port: fields({}, { port: portNumber, number: portNumber, name: anyText(63) }),
    tls: fields(
      { mode: z.enum(["None", "ServerOnly", "ClientAndServer"]) },
      { clientCertificateRef: secretReference, validation: tlsValidation },
    ).default({ mode: "None" }),
  },
  {
    externalHostname: fields({ hostname: preciseHostname }, {}),
    endpointSelector: fields({ matchLabels: mapOf(labelValue, 64, 1) }, {}),
    protocol: z.enum(backendProtocols),
    sessionPersistence: backendPersistence,
  },
);

export const backendTrafficPolicy: z.ZodType<BackendTrafficPolicy> = fields(
  {
    targetRefs: uniqueListOf(localObjectReference, 16, ({ group, kind, name }) => `${group}/${kind}/${name}`, 1),
  },
  {
    sessionPersistence,
    retryConstraint: fields(
      {
        budget: fields(
          { percent: wholeNumber(0, 100).default(20), interval: gatewayDuration.default("10s") },
          {},
        ).default({ percent: 20, interval: "10s" }),
        minRetryRate: fields({}, { count: wholeNumber(1, 1_000_000), interval: gatewayDuration }).default({
          count: 10,
          interval: "1s",
        }),
      },
      {},
    ),
  },
);
