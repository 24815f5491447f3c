import type { Fields } from "../../base/untyped.ts";
import { type Installation, nameOf } from "./install-options.ts";

export type Component = "front" | "compile" | "admission";

/** The labels that Deployments, Services and NetworkPolicies find pods by. */
export const selectorOf = (of: Installation, component: Component): Record<string, string> => ({
  "app.kubernetes.io/name": nameOf(of),
  "app.kubernetes.io/component": component,
});

/** What the pods of a component differ in. */
export interface PodOptions {
  readonly component: Component;
  readonly account: string;
  /** Absent: one pod, that ends before the next one begins. */
  readonly replicas?: number;
  readonly args: readonly string[];
  readonly env: readonly Fields[];
  readonly ports: Readonly<Record<string, number>>;
  readonly probes: Fields;
  readonly resources: Fields;
  readonly settings: string;
  readonly secret: string;
  /** Whether pods get the token of their account where the account gives none. */
  readonly asksApiServer?: boolean;
}

export const port = (name: string) => ({ port: name });

export function deployment(of: Installation, options: PodOptions): Fields {
  const { component, replicas, ports } = options;
  const labels = selectorOf(of, component);
  const volumes = {
    settings: { configMap: { name: options.settings } },
    secret: { secret: { secretName: options.secret } },
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: `${nameOf(of)}-${component}`, namespace: of.namespace, labels },
    spec: {
      replicas: replicas ?? 1,
      strategy: replicas === undefined ? { type: "Recreate" } : { rollingUpdate: { maxUnavailable: 0 } },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels: { ...labels, "sidecar.istio.io/inject": "false" } },
        spec: {
          serviceAccountName: options.account,
          ...(options.asksApiServer === true ? { automountServiceAccountToken: true } : {}),
          terminationGracePeriodSeconds: 30,
          ...(replicas === undefined ? {} : { topologySpreadConstraints: [spread(labels)] }),
          securityContext: podSecurity,
          containers: [
            {
              name: component,
              image: of.image,
              args: ["serve", "--settings", "/etc/portolan/portolan.yaml", "--only", ...options.args],
              env: [...Object.entries(of.env).map(([name, value]) => ({ name, value })), ...options.env],
              ports: Object.entries(ports).map(([name, containerPort]) => ({ name, containerPort })),
              ...options.probes,
              resources: options.resources,
              securityContext: containerSecurity,
              volumeMounts: [
                { name: "settings", mountPath: "/etc/portolan", readOnly: true },
                { name: "secret", mountPath: "/etc/portolan-secret", readOnly: true },
              ],
            },
          ],
          volumes: Object.entries(volumes).map(([name, volume]) => ({ name, ...volume })),
        },
      },
    },
  };
}

const spread = (matchLabels: Fields): Fields => ({
  maxSkew: 1,
  topologyKey: "kubernetes.io/hostname",
  whenUnsatisfiable: "ScheduleAnyway",
  labelSelector: { matchLabels },
});

const podSecurity: Fields = {
  runAsNonRoot: true,
  runAsUser: 65_532,
  runAsGroup: 65_532,
  fsGroup: 65_532,
  seccompProfile: { type: "RuntimeDefault" },
};

const containerSecurity: Fields = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

/** @param ports port of the Service by its name, with the name of the container's port where that is another */
export function service(of: Installation, name: string, component: Component, ports: readonly Fields[]): Fields {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: of.namespace },
    spec: { selector: selectorOf(of, component), ports },
  };
}

export const servicePort = (name: string, number: number, targetPort = name): Fields => ({
  name,
  port: number,
  targetPort,
});

export const disruptionBudget = (of: Installation, component: Component): Fields => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: `${nameOf(of)}-${component}`, namespace: of.namespace },
  spec: { minAvailable: 1, selector: { matchLabels: selectorOf(of, component) } },
});
