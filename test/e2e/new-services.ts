import { writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bookshop } from "./bookshop.ts";
import { shopHost } from "./bookshop.ts";
import { startTraffic } from "./traffic.ts";

/** What came of saving new services with the routes to them. */
export interface NewServices {
  /** From each save to the first answer over the new route. */
  readonly inForceMs: readonly number[];
  /** Requests of traffic besides that failed, and answers over a new route other than that it is not there yet, by what was answered. */
  readonly failures: ReadonlyMap<string, number>;
  readonly requests: number;
}

/** Pauses between a route that is in force and the next save. */
const pauseMs = 300;
const patienceMs = 20_000;

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
  const traffic = startTraffic(shop.port, shopHost, "/catalog");
  const agent = new Agent({ keepAlive: true });
  const failures = new Map<string, number>();
  const note = (what: string) => failures.set(what, (failures.get(what) ?? 0) + 1);
  const inForceMs: number[] = [];
  let requests = 0;
  for (let i = 1; i <= count; i += 1) {
    await writeFile(join(shop.folder, "new-service.yaml"), newService(i, shop.appPort));
    const startMs = performance.now();
    await publish();
    for (;;) {
      const { status, text } = await answerOf(shop.port, `/new-${i}`, agent);
      requests += 1;
      if (status === 200) break;
      if (status !== 404) note(`new route: ${status} ${text}`);
      if (performance.now() - startMs > patienceMs) throw new Error(`the route of edit ${i} is not there after 20 s`);
      await sleep(2);
    }
    inForceMs.push(performance.now() - startMs);
    await sleep(pauseMs);
  }
  await traffic.stop();
  agent.destroy();
  for (const [answer, times] of traffic.counts()) {
    requests += times;
    if (!answer.startsWith("catalog-")) for (let i = 0; i < times; i += 1) note(`traffic: ${answer}`);
  }
  return { inForceMs, failures, requests };
}

function answerOf(
  port: number,
  path: string,
  agent: Agent,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, agent, headers: { host: shopHost } }, (response) => {
      let text = "";
      response.on("data", (data) => {
        text += data;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on("error", reject);
    sent.end();
  });
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
