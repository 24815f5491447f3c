import { z } from "zod";
import { message } from "../../../lib/config/schema/message.ts";
import { flag, stringMap, text, texts, uint32 } from "../../../lib/config/schema/scalars.ts";

const targetRef = message({ required: { kind: text, name: text, namespace: text } });
const transport = z.enum(["TCP", "UDP", "SCTP"]);
const named = { name: text, protocol: transport };

const container = {
  name: text,
  image: text,
  args: texts,
  ports: message({ plain: { ...named, containerPort: uint32 } }).array(),
  resources: message({ plain: { limits: message({ plain: { cpu: text } }) } }),
  env: message({
    plain: {
      name: text,
      value: text,
      valueFrom: message({
        plain: {
          fieldRef: message({ plain: { fieldPath: text } }),
          resourceFieldRef: message({ plain: { resource: text, divisor: text } }),
          configMapKeyRef: message({ plain: { name: text, key: text } }),
        },
      }),
    },
  }).array(),
};

const podSpec = {
  serviceAccountName: text,
  nodeName: text,
  hostname: text,
  subdomain: text,
  containers: message({ plain: container }).array(),
  initContainers: message({ plain: { ...container, restartPolicy: z.enum(["Always"]) } }).array(),
};

const template = message({
  plain: {
    metadata: message({ plain: { labels: stringMap, annotations: stringMap } }),
    spec: message({ plain: { ...podSpec, serviceAccount: text, hostNetwork: flag } }),
  },
});
const selector = message({ plain: { matchLabels: stringMap } });
const workload = message({ plain: { spec: message({ plain: { selector, template } }) } });

/** What the registry reads of Kubernetes' objects beside their metadata; a test says when a field is missing. */
export const kubernetesSchemas: readonly (readonly [apiVersion: string, kind: string, schema: z.ZodType])[] = [
  [
    "v1",
    "Service",
    message({
      plain: {
        spec: message({
          plain: {
            type: z.enum(["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]),
            clusterIP: text,
            clusterIPs: texts,
            externalName: text,
            externalIPs: texts,
            selector: stringMap,
            internalTrafficPolicy: z.enum(["Cluster", "Local"]),
            trafficDistribution: z.enum(["PreferClose", "PreferSameZone", "PreferSameNode"]),
            publishNotReadyAddresses: flag,
            ports: message({
              required: { port: uint32 },
              plain: { ...named, targetPort: z.union([uint32, text]), appProtocol: text, nodePort: uint32 },
            }).array(),
          },
        }),
        status: message({
          plain: {
            loadBalancer: message({ plain: { ingress: message({ plain: { ip: text, hostname: text } }).array() } }),
          },
        }),
      },
    }),
  ],
  [
    "v1",
    "Pod",
    message({
      plain: {
        spec: message({
          plain: {
            ...podSpec,
          },
        }),
        status: message({
          plain: {
            phase: z.enum(["Pending", "Running", "Succeeded", "Failed"]),
            hostIP: text,
            hostIPs: message({ plain: { ip: text } }).array(),
            podIP: text,
            podIPs: message({ plain: { ip: text } }).array(),
            conditions: message({ plain: { type: z.enum(["Ready"]), status: z.enum(["True", "False"]) } }).array(),
          },
        }),
      },
    }),
  ],
  [
    "discovery.k8s.io/v1",
    "EndpointSlice",
    message({
      plain: {
        addressType: z.enum(["IPv4", "IPv6", "FQDN"]),
        endpoints: message({
          required: { addresses: texts },
          plain: { conditions: message({ plain: { ready: flag, serving: flag, terminating: flag } }), targetRef },
        }).array(),
        ports: message({ plain: { ...named, port: uint32 } }).array(),
      },
    }),
  ],
  [
    "v1",
    "Endpoints",
    message({
      plain: {
        subsets: message({
          plain: {
            addresses: message({ plain: { ip: text, targetRef } }).array(),
            ports: message({ plain: { ...named, port: uint32 } }).array(),
          },
        }).array(),
      },
    }),
  ],
  [
    "v1",
    "Node",
    message({
      plain: {
        status: message({
          plain: {
            addresses: message({
              plain: { type: z.enum(["InternalIP", "ExternalIP", "Hostname"]), address: text },
            }).array(),
          },
        }),
      },
    }),
  ],
  ["v1", "Namespace", message({})],
  ["apps/v1", "Deployment", workload],
  ["apps/v1", "StatefulSet", workload],
  ["apps/v1", "DaemonSet", workload],
  ["apps/v1", "ReplicaSet", workload],
  ["argoproj.io/v1alpha1", "Rollout", workload],
  ["batch/v1", "Job", workload],
  [
    "batch/v1",
    "CronJob",
    message({
      plain: {
        spec: message({
          plain: { jobTemplate: message({ plain: { spec: message({ plain: { template } }) } }), selector },
        }),
      },
    }),
  ],
];
