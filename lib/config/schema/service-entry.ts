import { z } from "zod";
import type { ServiceEntry } from "../kinds/service-entry.ts";
import type { WorkloadEntry } from "../kinds/workload-entry.ts";
import type { ReadinessProbe, WorkloadGroup } from "../kinds/workload-group.ts";
import { message } from "./message.ts";
import { int32, stringMap, text, texts, uint32 } from "./scalars.ts";
import { labelsSelector } from "./selector.ts";

export const workloadEntry: z.ZodType<WorkloadEntry> = message({
  plain: {
    address: text,
    ports: z.record(text, uint32),
    labels: stringMap,
    network: text,
    locality: text,
    weight: uint32,
    serviceAccount: text,
  },
});

export const serviceEntry: z.ZodType<ServiceEntry> = message({
  required: { hosts: texts.default([]) },
  plain: {
    addresses: texts,
    ports: message({
      required: { number: uint32.default(0), name: text.default("") },
      plain: { protocol: text, targetPort: uint32 },
    }).array(),
    location: z.enum(["MESH_EXTERNAL", "MESH_INTERNAL"]),
    resolution: z.enum(["NONE", "STATIC", "DNS", "DNS_ROUND_ROBIN", "DYNAMIC_DNS"]),
    exportTo: texts,
    subjectAltNames: texts,
  },
  // An empty list of endpoints is refused beside a selector.
  kept: { endpoints: workloadEntry.array(), workloadSelector: labelsSelector },
});

export const readinessProbe: z.ZodType<ReadinessProbe> = message({
  plain: {
    initialDelaySeconds: int32,
    timeoutSeconds: int32,
    periodSeconds: int32,
    successThreshold: int32,
    failureThreshold: int32,
  },
  kept: {
    httpGet: message({
      required: { port: uint32.default(0) },
      plain: {
        path: text,
        host: text,
        scheme: text,
        httpHeaders: message({ plain: { name: text, value: text } }).array(),
      },
    }),
    tcpSocket: message({ required: { port: uint32.default(0) }, plain: { host: text } }),
    exec: message({ required: { command: texts.default([]) } }),
    grpc: message({ plain: { port: uint32, service: text } }),
  },
});

export const workloadGroup: z.ZodType<WorkloadGroup> = message({
  required: { template: workloadEntry },
  kept: { metadata: message({ plain: { labels: stringMap, annotations: stringMap } }), probe: readinessProbe },
});
