import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bookshop } from "./bookshop.ts";
import { shopHost } from "./bookshop.ts";
import { type EditsUnderTraffic, editUnderTraffic } from "./edits-under-traffic.ts";

/** What came of saving new services with the routes to them. */
export interface NewServices extends Pick<EditsUnderTraffic, "failures" | "requests"> {
  /** From each save to the first answer over the new route. */
  readonly inForceMs: readonly number[];
}

/** Pauses between a route that is in force and the next save. */
const pauseMs = 300;

/**
 * Saves a new service and the route to it in one file, again and again, each in the place of the one before, and waits until
 * the route answers, under traffic on another route.
 *
 * @param publish called after each save; absent where somebody watches the folder
 */
export async function saveNewServices(
  shop: Bookshop,
  count: number,
  publish: () => Promise<unknown> = async () => {},
): Promise<NewServices> {
  const { edits, ...came } = await editUnderTraffic(shop.port, count, {
    async make(i) {
      await writeFile(join(shop.folder, "new-service.yaml"), newService(i, shop.appPort));
      await publish();
    },
    path: (i) => `/new-${i}`,
    read: ({ status }) => (status === 200 ? "in force" : status === 404 ? "not yet" : "failed"),
    rest: () => sleep(pauseMs),
  });
  return { ...came, inForceMs: edits.map(({ inForceMs }) => inForceMs) };
}

const newService = (i: number, port: number) => `
apiVersion: v1
kind: Service
metadata:
  name: new-${i}
  namespace: bookshop
spec:
  clusterIP: 10.97.${Math.floor(i / 200)}.${(i % 200) + 1}
  ports:
    - name: http
      port: ${port}
      targetPort: ${port}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: new-${i}
  namespace: bookshop
  labels:
    kubernetes.io/service-name: new-${i}
addressType: IPv4
endpoints:
  - addresses: ["127.0.0.13"]
    conditions:
      ready: true
ports:
  - name: http
    port: ${port}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata:
  name: a-new-service
  namespace: bookshop
spec:
  hosts: ["${shopHost}"]
  gateways: [bookshop]
  http:
    - match:
        - uri:
            prefix: /new-${i}
      route:
        - destination:
            host: new-${i}
`;
