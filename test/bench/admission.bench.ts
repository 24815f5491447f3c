/**
 * The admission webhook: CPU of one review, from the text of the request to the text of the answer, of an object by itself and in the
 * synthetic mesh. The aim is of the slowest request in a hundred.
 */
import { admissionApp } from "../../lib/admission/app.ts";
import type { AdmissionWorld } from "../../lib/admission/world.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import type { BenchOptions, Row } from "./report.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";
import { stopwatch } from "./yardstick.ts";

const aimMs = 50;

/** A VirtualService of twenty routes; every request has another one. */
function reviewText(at: number): string {
  const object = {
    apiVersion: "networking.istio.io/v1",
    kind: "VirtualService",
    metadata: { name: `route-${at}`, namespace: "ns-0", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: {
      hosts: [`host-${at}.example.com`],
      http: Array.from({ length: 20 }, (_, route) => ({
        match: [{ uri: { prefix: `/path-${at}-${route}` } }],
        route: [{ destination: { host: `service-${route}` } }],
        timeout: "5s",
        retries: { attempts: 3, perTryTimeout: "1s" },
      })),
    },
  };
  const request = {
    uid: `${at}`,
    operation: "CREATE",
    namespace: "ns-0",
    name: `route-${at}`,
    object,
    oldObject: null,
  };
  return JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

async function rowOf(what: string, world: AdmissionWorld | undefined, requests: number): Promise<Row> {
  const app = admissionApp({ workloads: "refuse", ...(world === undefined ? {} : { world: async () => world }) });
  const headers = { "content-type": "application/json" };
  const times: number[] = [];
  for (let at = -20; at < requests; at += 1) {
    const body = reviewText(at);
    const elapsed = stopwatch();
    const response = await app.request("/admission/validate", { method: "POST", body, headers });
    await response.text();
    if (at >= 0) times.push(elapsed().cpuMs);
    if (response.status !== 200) throw new Error(`the webhook answered ${response.status}`);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const p99 = percentile(sorted, 0.99);
  return {
    what,
    requests,
    "CPU ms p50": percentile(sorted, 0.5),
    "CPU ms p99": p99,
    aim: `at most ${aimMs}: ${p99 <= aimMs ? "met" : "not met"}`,
  };
}

export async function admissionBench({ report, services, quick }: BenchOptions): Promise<void> {
  const requests = quick ? 100 : 1_000;
  const rows = [await rowOf("an object by itself", undefined, requests)];
  for (const size of quick ? services.slice(0, 1) : services) {
    const loaded = readFiles([{ file: "objects.yaml", text: syntheticMesh(size).text }]);
    const objects = loaded.configs.length + loaded.objects.length;
    const world = { loaded, clusterIds: ["Kubernetes"], otherHosts: [] };
    rows.push(await rowOf(`in a mesh of ${size} services, ${objects} objects`, world, quick ? 20 : 200));
  }
  report.table("Admission: one review of a VirtualService with 20 routes", rows);
}
