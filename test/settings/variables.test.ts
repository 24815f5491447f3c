import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { settingsFields } from "../../lib/settings/fields.ts";

const root = resolve(import.meta.dirname, "../..");

/** What is read and is no setting, each with its reason. */
const others: Readonly<Record<string, string>> = {
  PORTOLAN_SETTINGS: "names the settings file itself",
  PORTOLAN_WORKER: "a worker's number, which its first process gives it",
  KUBERNETES_SERVICE_HOST: "what a kubelet tells a pod of its cluster",
  KUBERNETES_SERVICE_PORT: "the same",
  SNAPSHOTS: "a bucket that wrangler binds to a Worker",
  SNAPSHOTS_COPY: "the same",
  SECRETS: "the same",
  RECOMPILE: "a queue that wrangler binds to a Worker",
  KUBE: "a service that wrangler binds to a Worker",
  COMPILE_SLICES: "a setting of an earlier release, which has no effect",
  CF_VERSION_METADATA: "the version of a Worker, which wrangler binds to it",
  RATE_LIMIT: "a rate limit that wrangler binds to a Worker",
  PORTOLAN_INBOUND: "a chain of iptables",
  PORTOLAN_IN_REDIRECT: "the same",
  PORTOLAN_OUTPUT: "the same",
  PORTOLAN_REDIRECT: "the same",
  PORTOLAN_DIVERT: "the same",
  PORTOLAN_TPROXY: "the same",
  PORTOLAN_MARKS: "the same",
  PORTOLAN_DNS: "the same",
  PORTOLAN_DNS_OUTPUT: "the same",
  PORTOLAN_DNS_INPUT: "the same",
  OTEL_SEMANTIC_CONVENTIONS: "a word of Istio's settings",
  PORTOLAN_SERVER: "what injection gives the container of an agent",
  ENABLE_NATIVE_SIDECARS: "a field of the values of Istio's charts",
  POD_NAME: "what the downward API tells a pod's agent, as Istio's injector names it",
  POD_NAMESPACE: "the same",
  SERVICE_ACCOUNT: "the same",
  DOMAIN: "the same",
  ISTIO_META_CLUSTER_ID: "the same",
  ISTIO_META_NETWORK: "the same",
  ISTIO_META_NODE_NAME: "the same",
  ISTIO_CPU_LIMIT: "the same",
  ENVOY_STATUS_PORT: "the same",
  ENVOY_PROMETHEUS_PORT: "the same",
  EXIT_ON_ZERO_ACTIVE_CONNECTIONS: "the same",
  STORAGE_EMULATOR_HOST: "a test server of Google Cloud Storage, as Google's own libraries have it",
  AZURE_STORAGE_ACCOUNT: "credentials of Azure Blob Storage, as the Azure CLI has them",
  AZURE_STORAGE_CONNECTION_STRING: "the same",
  AZURE_STORAGE_KEY: "the same",
  AZURE_STORAGE_SAS_TOKEN: "the same",
  NO_COLOR: "a terminal's, as no-color.org has it",
  FORCE_COLOR: "a terminal's",
  TERM: "the same",
  CI: "set by whoever runs commands without a person",
};

/** Variables that a text reads: named in full, or picked from the environment. */
function variablesIn(text: string): readonly string[] {
  const picked = [...text.matchAll(/const \{([^}]*)\} = process\.env\b/g)].flatMap(([, names = ""]) =>
    [...names.matchAll(/\b([A-Z][A-Z0-9_]+)\b(?=\s*[:=,]|\s*$)/g)].map(([, name = ""]) => name),
  );
  const named = [
    ...text.matchAll(/\bprocess\.env\.([A-Za-z_]\w*)/g),
    ...text.matchAll(/\.env\(\s*"(\w+)"/g),
    ...text.matchAll(/\b((?:PORTOLAN|CONSUL|OTEL)_[A-Z][A-Z0-9_]*[A-Z0-9])\b/g),
    ...text.matchAll(/\benv(?:ironment)?\.([A-Z][A-Z0-9_]+)\b/g),
  ].map(([, name = ""]) => name);
  return [...picked, ...named];
}

const read = new Map<string, string>();
for (const file of globSync("{lib,functions}/**/*.{ts,mjs}", { cwd: root }).sort()) {
  if (file.startsWith("lib/settings/")) continue;
  for (const name of variablesIn(readFileSync(join(root, file), "utf8"))) read.set(name, read.get(name) ?? file);
}

describe("the variables that programs read", () => {
  const fields = settingsFields();
  const known = new Set(fields.flatMap(({ env, worker }) => [...env, worker]));

  it("are found", () => {
    expect(variablesIn('const { PORTOLAN_A = "x", HOST: host } = process.env;')).toContain("HOST");
    expect(variablesIn('new Option("-p").env("PORT")')).toEqual(["PORT"]);
    expect(variablesIn("process.env.KUBECONFIG ?? env.OTEL_X_Y")).toEqual(
      expect.arrayContaining(["KUBECONFIG", "OTEL_X_Y"]),
    );
    expect(read.size).toBeGreaterThan(40);
  });

  it("have a field each in the settings file", () => {
    const missing = [...read].filter(([name]) => !known.has(name) && !Object.hasOwn(others, name));
    expect(missing.map(([name, file]) => `${name} in ${file}`)).toEqual([]);
  });

  it("are all that the settings file names", () => {
    const texts = globSync("{lib,functions}/**/*.{ts,mjs}", { cwd: root })
      .filter((file) => !file.startsWith("lib/settings/"))
      .map((file) => readFileSync(join(root, file), "utf8"))
      .join("\n");
    const unread = fields.flatMap(({ env, worker }) => [...env, worker]).filter((name) => !texts.includes(name));
    expect(unread).toEqual([]);
  });
});
