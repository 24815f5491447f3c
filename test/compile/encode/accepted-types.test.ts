import { describe, expect, it } from "vitest";
import { createFileCompiler } from "../../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../../lib/compile/world/world-of.ts";
import { worldOfExamples } from "../../docs/diagnostic-pages.ts";

const filter = (service: string, type: string) => ({
  file: "filter.yaml",
  text: `
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: { name: a, namespace: default }
spec:
  configPatches:
    - applyTo: HTTP_FILTER
      match: { context: SIDECAR_INBOUND, listener: { filterChain: { filter: { name: envoy.filters.network.http_connection_manager } } } }
      patch: { operation: INSERT_FIRST, value: { name: mine, typed_config: { "@type": "${type}" } } }
    - applyTo: CLUSTER
      match: { context: SIDECAR_OUTBOUND, cluster: { service: ${service} } }
      patch: { operation: MERGE, value: { connect_timeout: 1m } }
`,
});
const settings = (text: string) => ({ file: "portolan.yaml", text });
const reviews = "reviews.default.svc.cluster.local";

/** What is said of all classes. */
function saidOf(text: string, type: string, service = reviews): readonly string[] {
  const compile = createFileCompiler(defaultWorldOptions);
  const { diagnostics } = compile([worldOfExamples(), filter(service, type), settings(text)], []);
  return diagnostics.map(({ code, severity }) => `${severity} ${code}`);
}

describe("a patch of a type that is not known", () => {
  const type = "type.googleapis.com/example.Filter";

  it("closes with an error, and is passed on with a warning where the folder's settings accept it", () => {
    expect(saidOf("{}", type)).toEqual(["warning security-closed", "error envoy-filter-unknown-type"]);
    expect(saidOf("acceptUnknownTypes: true", type)).toEqual(["warning envoy-filter-unknown-type"]);
  });
});

describe("a patch that matches nothing", () => {
  it("is said once for all classes, and not where it matches in one", () => {
    const type = "type.googleapis.com/envoy.extensions.filters.http.cors.v3.Cors";
    expect(saidOf("{}", type)).toEqual([]);
    expect(saidOf("{}", type, "none.example")).toEqual(["warning envoy-filter-no-match"]);
  });
});
