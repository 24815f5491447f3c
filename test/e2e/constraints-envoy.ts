import type { MadeResource } from "./constraints.ts";
import { type Crowd, complaint as complaintOf, listenerAround, newCrowd } from "./crowd.ts";

/** What Envoy says of one resource; "" when it takes it. */
export function complaint({ type, name, json }: MadeResource): string {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return "";
  const crowd: Crowd = newCrowd();
  switch (type) {
    case "clusters":
      crowd.clusters.push(json);
      break;
    case "endpoints":
      crowd.clusters.push({ name: "around", type: "STATIC", connectTimeout: "1s", loadAssignment: json });
      break;
    case "listeners":
      crowd.listeners.push(json);
      break;
    case "routes":
      crowd.listeners.push({
        ...listenerAround({ name, json, from: [] }),
        name,
        address: { socketAddress: { address: "127.0.0.1", portValue: 1024 } },
      });
  }
  return complaintOf(crowd);
}
