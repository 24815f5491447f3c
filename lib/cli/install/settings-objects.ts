import { dump } from "js-yaml";
import type { Fields } from "../../base/untyped.ts";
import type { Settings } from "../../settings/schema.ts";
import { type Installation, nameOf, serviceNames, tlsNames } from "./install-options.ts";
import { webhookNames } from "./webhook-objects.ts";

const secret = (key: string): string => `@/etc/portolan-secret/${key}`;
const anywhere = "0.0.0.0";

/** A file for each component, so that none is given a secret that it does not need. */
export function settingsObjects(of: Installation): readonly Fields[] {
  const name = nameOf(of);
  const { features } = of;
  return [
    settingsMap(of, `${name}-front-settings`, frontSettings(of)),
    settingsMap(of, `${name}-settings`, compileSettings(of)),
    ...(features.has("admission") ? [settingsMap(of, `${name}-admission-settings`, admissionSettings(of))] : []),
  ];
}

const settingsMap = ({ namespace }: Installation, name: string, settings: Settings): Fields => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace },
  data: { "portolan.yaml": dump(settings, { lineWidth: -1 }) },
});

const frontSettings = (of: Installation): Settings => ({
  store: of.store,
  ...(of.features.has("ca") ? { secretsKey: secret("secrets-key") } : {}),
  front: {
    host: anywhere,
    port: 8080,
    grpcPort: 18_000,
    ...(of.features.has("ca") ? ({ tlsPort: 15_012, tlsNames: [...tlsNames(of)], ca: "on" } as const) : {}),
    authentication: secret("authentication.json"),
    confirmations: "store",
    compileUrl: `http://${nameOf(of)}-compile.${of.namespace}.svc:8082`,
    compileSecret: secret("front-secret"),
  },
});

const compileSettings = ({ store, secretNames, workloadEntries }: Installation): Settings => ({
  store,
  compile: {
    binaryForms: true,
    webhook: { host: anywhere, port: 8082, secret: secret("webhook-secret"), frontSecret: secret("front-secret") },
  },
  collectors: [
    { kind: "kube", ...(secretNames ? { secretNames } : {}), ...(workloadEntries ? { workloadEntries } : {}) },
  ],
  health: { host: anywhere, port: 8081 },
});

function admissionSettings(of: Installation): Settings {
  const { store, features, revision, istioNamespace, namespace, clusterDomain } = of;
  const { validating, mutating } = webhookNames(of);
  const values = {
    ...(revision === "default" ? {} : { revision }),
    ...(istioNamespace === "istio-system" ? {} : { global: { istioNamespace } }),
  };
  return {
    store,
    secretsKey: secret("secrets-key"),
    admission: {
      host: anywhere,
      port: 8443,
      tlsNames: [...serviceNames(`${nameOf(of)}-admission.${namespace}`, clusterDomain)],
      rootCert: true,
      webhooks: [...validating.map((name) => `validating/${name}`), ...mutating.map((name) => `mutating/${name}`)],
      ...(features.has("injection") ? { injection: values } : {}),
    },
    health: { host: anywhere, port: 8081 },
  };
}
