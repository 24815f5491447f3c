import type { Fields } from "../../base/untyped.ts";
import { type Installation, inRevision, nameOf } from "./install-options.ts";
import { deployment, disruptionBudget, service, servicePort } from "./pods.ts";

const get = (path: string, on: string): Fields => ({ httpGet: { path, port: on } });

/** Stateless, with the ports of istiod where it signs or stands in for it. */
export function frontObjects(of: Installation): readonly Fields[] {
  const name = nameOf(of);
  const hasTls = of.features.has("ca");
  return [
    deployment(of, {
      component: "front",
      account: `${name}-front`,
      replicas: 2,
      args: ["front"],
      env: [
        { name: "PORTOLAN_WORKERS", value: "2" },
        { name: "PORTOLAN_FRONT_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      ],
      ports: { http: 8080, grpc: 18_000, ...(hasTls ? { tls: 15_012 } : {}) },
      probes: {
        startupProbe: { ...get("/livez", "http"), periodSeconds: 2, failureThreshold: 60 },
        readinessProbe: { ...get("/readyz", "http"), periodSeconds: 5, timeoutSeconds: 8 },
        livenessProbe: { ...get("/livez", "http"), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
      },
      resources: { requests: { cpu: "250m", memory: "384Mi" }, limits: { cpu: "2", memory: "1Gi" } },
      settings: `${name}-front-settings`,
      secret: `${name}-front`,
      // Reads the keys by which the API server signs tokens.
      asksApiServer: hasTls,
    }),
    service(of, name, "front", [
      servicePort("http", 8080),
      servicePort("grpc", 18_000),
      ...(hasTls ? istiodPorts : []),
    ]),
    disruptionBudget(of, "front"),
  ];
}

/** @see istio 1.30.3 manifests/charts/istio-control/istio-discovery/templates/service.yaml */
const istiodPorts: readonly Fields[] = [
  servicePort("grpc-xds", 15_010, "grpc"),
  servicePort("https-dns", 15_012, "tls"),
  servicePort("http-monitoring", 15_014, "http"),
];

/** One pod: a source has one writer. */
export function compileObjects(of: Installation): readonly Fields[] {
  const name = nameOf(of);
  return [
    deployment(of, {
      component: "compile",
      account: name,
      args: ["compile", "collectors"],
      env: [{ name: "NODE_OPTIONS", value: "--max-old-space-size=1280" }],
      ports: { health: 8081, webhook: 8082 },
      probes: {
        readinessProbe: { ...get("/readyz", "health"), periodSeconds: 5 },
        // Reading a large push leaves the process no moment to answer.
        livenessProbe: { ...get("/livez", "health"), periodSeconds: 20, timeoutSeconds: 10, failureThreshold: 6 },
      },
      resources: { requests: { cpu: "500m", memory: "512Mi" }, limits: { memory: "2Gi" } },
      settings: `${name}-settings`,
      secret: `${name}-compile`,
    }),
    service(of, `${name}-compile`, "compile", [servicePort("webhook", 8082)]),
  ];
}

export function admissionObjects(of: Installation): readonly Fields[] {
  const name = `${nameOf(of)}-admission`;
  return [
    deployment(of, {
      component: "admission",
      account: name,
      replicas: 2,
      args: ["admission"],
      env: [],
      ports: { health: 8081, https: 8443 },
      probes: {
        readinessProbe: { ...get("/readyz", "health"), periodSeconds: 5 },
        livenessProbe: { ...get("/livez", "health"), periodSeconds: 20, timeoutSeconds: 10, failureThreshold: 6 },
      },
      resources: { requests: { cpu: "100m", memory: "256Mi" }, limits: { memory: "1Gi" } },
      settings: `${name}-settings`,
      secret: name,
    }),
    service(of, name, "admission", [servicePort("https", 443)]),
    disruptionBudget(of, "admission"),
  ];
}

/**
 * The Service that Istio's agents look for. A Service selects pods of its own namespace alone; from another one the name leads on.
 */
export function istiodService(of: Installation): Fields {
  const name = inRevision("istiod", of.revision);
  const labels = { app: "istiod", "istio.io/rev": of.revision };
  const { spec, ...front } = service({ ...of, namespace: of.istioNamespace }, name, "front", istiodPorts);
  const externalName = `${nameOf(of)}.${of.namespace}.svc.${of.clusterDomain}`;
  return {
    ...front,
    metadata: { name, namespace: of.istioNamespace, labels },
    spec: of.namespace === of.istioNamespace ? spec : { type: "ExternalName", externalName, ports: istiodPorts },
  };
}
