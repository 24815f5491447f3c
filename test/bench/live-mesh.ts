import { inParallel } from "../../lib/storage/in-parallel.ts";
import type { ApiServer } from "../servers/api-server.ts";

/** How much runs in a cluster. */
export interface LiveMeshSize {
  readonly services: number;
  readonly podsEach: number;
}

const servicesPerNamespace = 50;

export const namespaceOf = (service: number): string => `ns-${Math.floor(service / servicesPerNamespace)}`;
export const podName = (service: number, pod: number): string => `s${service}-${pod}`;

const addressOf = (service: number, pod: number): string => {
  const number = service * 16 + pod + 1;
  return `10.${128 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
};

const statusOf = (ip: string) => ({
  phase: "Running",
  podIP: ip,
  podIPs: [{ ip }],
  hostIP: "10.0.0.1",
  conditions: ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => ({ type, status: "True" })),
});

/** Makes services with slices and pods in a real API server, as a kubelet and Kubernetes' controllers would leave them. */
export async function fillCluster(server: ApiServer, { services, podsEach }: LiveMeshSize): Promise<void> {
  const all = Array.from({ length: services }, (_, service) => service);
  const namespaces = [...new Set(all.map(namespaceOf))];
  await inParallel(namespaces, (name) => server.ask("POST", "/api/v1/namespaces", { metadata: { name } }));
  await inParallel(all, async (service) => {
    const namespace = namespaceOf(service);
    const app = `s${service}`;
    await server.ask("POST", `/api/v1/namespaces/${namespace}/services`, {
      metadata: { name: app, labels: { app } },
      spec: { selector: { app }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
    });
    const pods = Array.from({ length: podsEach }, (_, pod) => pod);
    for (const pod of pods) {
      const base = `/api/v1/namespaces/${namespace}/pods`;
      const name = podName(service, pod);
      await server.ask("POST", base, {
        metadata: { name, labels: { app, version: `v${pod % 2}`, "pod-template-hash": "7d9c6b5f4d" } },
        spec: {
          serviceAccountName: app,
          nodeName: `node-${pod}`,
          containers: [
            {
              name: "app",
              image: "registry.example/shop/app:1.2.3",
              ports: [{ name: "http", containerPort: 8080 }],
              env: [{ name: "LOG_LEVEL", value: "info" }],
              resources: { requests: { cpu: "100m", memory: "128Mi" } },
            },
          ],
        },
      });
      const status = statusOf(addressOf(service, pod));
      await server.ask("PATCH", `${base}/${name}/status`, { status }, "application/merge-patch+json");
    }
    await server.ask("POST", `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, {
      metadata: { name: app, labels: { "kubernetes.io/service-name": app } },
      addressType: "IPv4",
      endpoints: pods.map((pod) => ({
        addresses: [addressOf(service, pod)],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: `node-${pod}`,
        targetRef: { kind: "Pod", name: podName(service, pod), namespace },
      })),
      ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    });
  });
}
