import { existsSync, readdirSync } from "node:fs";
import { lacks } from "../skip.ts";

const folder = new URL("../../.cache/servers/", import.meta.url).pathname;

/** Path of a real server, or of Helm, that `npm run test:servers` has built; undefined where it has not. */
export function serverBinary(
  name: "kube-apiserver-1.35.4" | "etcd-3.6.5" | "consul-1.15.4" | "helm-3.22.0",
): string | undefined {
  const path = folder + name;
  return existsSync(path) ? path : undefined;
}

/** Whether the API server and etcd are there; prints where they are not. */
export function hasApiServer(): boolean {
  const isThere = serverBinary("kube-apiserver-1.35.4") !== undefined && serverBinary("etcd-3.6.5") !== undefined;
  return !lacks(isThere, "kube-apiserver and etcd: npm run test:servers builds them");
}

/** Files of the Gateway API's CustomResourceDefinitions, as `npm run test:servers` fetches them; undefined where it has not. */
export function gatewayApiDefinitions(): readonly string[] | undefined {
  const there = `${folder}gateway-api-1.5.1/`;
  if (!existsSync(there)) return undefined;
  return readdirSync(there)
    .filter((file) => file.startsWith("gateway.networking.") && !file.includes("_vap_"))
    .sort()
    .map((file) => there + file);
}
