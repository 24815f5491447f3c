import { afterEach, describe, expect, it } from "vitest";
import { isFields } from "../../lib/base/untyped.ts";
import type { ConfigMeta } from "../../lib/config/config.ts";
import { schemaOf } from "../../lib/config/kind-registry.ts";
import { groupVersion } from "../../lib/config/values/group-version.ts";
import { createDice, type Dice } from "../fuzz/objects/dice.ts";
import {
  randomBackendPolicy,
  randomGatewayClass,
  randomGRPCRoute,
  randomHTTPRoute,
  randomKubernetesBackend,
  randomKubernetesGateway,
  randomListenerSet,
  randomReferenceGrant,
  randomStreamRoute,
} from "../fuzz/objects/gateway-api.ts";
import type { Manifest } from "../fuzz/objects/vocabulary.ts";
import { lacks } from "../skip.ts";
import { type ApiServer, openApiServer } from "./api-server.ts";
import { installGatewayApiKinds } from "./custom-resources.ts";
import { type GatewayApiRelease, gatewayApiFolder, gatewayApiReleases, hasApiServer } from "./server-binaries.ts";

const generators: readonly ((dice: Dice, name: string) => Manifest)[] = [
  randomHTTPRoute,
  randomHTTPRoute,
  randomHTTPRoute,
  randomKubernetesGateway,
  randomListenerSet,
  randomGRPCRoute,
  randomStreamRoute,
  randomBackendPolicy,
  randomBackendPolicy,
  randomKubernetesBackend,
  randomKubernetesBackend,
  randomReferenceGrant,
  randomGatewayClass,
];

/** What stands in place of something else. A `null` says nothing to us: where nothing may stand it is passed over. */
const odd: readonly unknown[] = [
  ...[
    "",
    "*",
    "*.a",
    "a",
    "A b",
    "a.example.com",
    "10.0.0.1",
    "/",
    "/a//b",
    "/a/..",
    "/a%2F",
    "/ä",
    "x y",
    "https://*.a",
    "1h1m",
    "99999h",
    "0s",
  ],
  ...[
    "Service",
    "Gateway",
    "Exact",
    "PathPrefix",
    "RegularExpression",
    "RequestMirror",
    "RequestRedirect",
    "CORS",
    "TLS",
    "HTTPS",
    "TCP",
    "UDP",
  ],
  ...[
    "Terminate",
    "Passthrough",
    "ReplaceFullPath",
    "ReplacePrefixMatch",
    "Cookie",
    "Header",
    "Permanent",
    "Hostname",
    "IPAddress",
    "URI",
  ],
  ...[0, 1, 80, 301, 304, 443, 503, 600, 65_536, -1, 1.5, true, null, [], {}, [[]], "a".repeat(300)],
];

/** The same with one thing otherwise, anywhere in it. */
function changed(dice: Dice, value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0 && dice.chance(85)) {
    const at = dice.int(value.length);
    if (dice.chance(10)) return [...value, value[at]];
    if (dice.chance(5)) return value.toSpliced(at, 1);
    return value.map((element: unknown, index) => (index === at ? changed(dice, element) : element));
  }
  if (isFields(value) && Object.keys(value).length > 0 && dice.chance(90)) {
    const name = dice.pick(Object.keys(value));
    const { [name]: member, ...others } = value;
    if (dice.chance(15)) return others;
    if (dice.chance(5)) return { ...value, [dice.pick(names)]: dice.pick(odd) ?? 1 };
    return { ...value, [name]: changed(dice, member) };
  }
  return dice.pick(odd);
}

const names = [
  ...[
    "name",
    "namespace",
    "port",
    "sectionName",
    "group",
    "kind",
    "weight",
    "matches",
    "filters",
    "hostname",
    "type",
    "value",
    "percent",
    "tls",
  ],
  ...[
    "fraction",
    "scheme",
    "path",
    "timeouts",
    "retry",
    "uri",
    "hostnames",
    "selector",
    "kinds",
    "options",
    "wellKnownCACertificates",
    "nonsense",
  ],
];

/** What we refuse and the definitions do not: each would be refused by Envoy, or could not be read by Istio. */
const stricter = /is a format command|percent sign|maxSize|is no YAML/;

const count = 1_000;

/** The same ones for every release: half of them or so as somebody could have written them wrong. */
const manifests = Array.from({ length: count }, (_, seed): Manifest => {
  const dice = createDice(seed);
  const made = dice.pick(generators)(dice, "object-1");
  return { ...made, spec: dice.chance(75) ? (changed(dice, made.spec) ?? {}) : made.spec };
});

/** What we refuse of an object; "" if we take it. */
function ours({ apiVersion, kind, metadata, spec }: Manifest): string {
  const { group, version } = groupVersion(apiVersion);
  const { name, namespace } = metadata;
  const meta: ConfigMeta = { ...emptyMeta, kind, group, version, name, namespace };
  const found = schemaOf(group, kind)?.read(spec, meta, "refuse").findings ?? [];
  return found
    .filter(({ severity }) => severity === "error")
    .map(({ path, message }) => `${path.join(".")} ${message}`)
    .join("; ");
}

/** What a server says of an object; "" if it takes it. */
function theirs(server: ApiServer, { apiVersion, kind, metadata, ...fields }: Manifest): Promise<string> {
  const schema = schemaOf(groupVersion(apiVersion).group, kind);
  const space = schema?.clusterScoped === true ? "" : `/namespaces/${metadata.namespace}`;
  const path = `/apis/${apiVersion}${space}/${schema?.plural}?dryRun=All&fieldValidation=Strict`;
  const object = { apiVersion, kind, metadata: { name: metadata.name }, ...fields };
  return server.ask("POST", path, object).then(
    () => "",
    (cause: unknown) => String(cause),
  );
}

const fetched = gatewayApiReleases.every((release) => gatewayApiFolder(release) !== undefined);

describe.skipIf(!hasApiServer() || lacks(fetched, "the Gateway API's definitions: npm run test:servers fetches them"))(
  "the Gateway API's definitions in a real API server",
  () => {
    const answers = new Map<GatewayApiRelease, readonly string[]>();
    const servers: ApiServer[] = [];
    afterEach(async () => {
      for (const server of servers.splice(0)) await server.close();
    });

    it.each(gatewayApiReleases)(
      "of %s take nothing that we refuse, their rules in CEL included",
      async (release) => {
        const server = await openApiServer();
        servers.push(server);
        await installGatewayApiKinds(server, release);
        for (const name of ["ns1", "ns2", "ns3", "istio-system"])
          await server.ask("POST", "/api/v1/namespaces", { metadata: { name } });
        const said: string[] = [];
        for (const manifest of manifests) said.push(await theirs(server, manifest));
        answers.set(release, said);
        const wrong = manifests.flatMap((manifest, seed) => {
          const refusal = ours(manifest);
          if (said[seed] !== "" || refusal === "" || stricter.test(refusal)) return [];
          return [`seed ${seed}: ${JSON.stringify(manifest)}\n  ours: ${refusal}`];
        });
        expect(wrong.slice(0, 5).join("\n\n")).toBe("");
        const refused = said.filter((answer) => answer !== "").length;
        expect(refused).toBeGreaterThan(count / 5);
        expect(refused).toBeLessThan((count * 4) / 5);
      },
      300_000,
    );

    it("refuse what we take in none of the releases alone: what one of them takes is taken", () => {
      expect(answers.size).toBe(gatewayApiReleases.length);
      const wrong = manifests.flatMap((manifest, seed) => {
        const said = [...answers].map(([release, list]) => [release, list[seed] ?? ""] as const);
        if (ours(manifest) !== "" || said.some(([, answer]) => answer === "")) return [];
        return [`seed ${seed}: ${JSON.stringify(manifest)}\n  ${said.map((one) => one.join(": ")).join("\n  ")}`];
      });
      expect(wrong.slice(0, 5).join("\n\n")).toBe("");
    });
  },
);

const emptyMeta: ConfigMeta = {
  kind: "",
  group: "",
  version: "",
  name: "",
  namespace: "",
  domain: "cluster.local",
  labels: {},
  annotations: {},
  resourceVersion: "",
  creationTimestampMs: 0,
};
