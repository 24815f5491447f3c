import { describe, expect, it } from "vitest";
import { buildRegistry } from "../../lib/registry/build-registry.ts";
import type { RegistryState } from "../../lib/registry/changes/registry-state.ts";
import type { Endpoint } from "../../lib/registry/service.ts";
import { expectedReader } from "../conformance/store/case-store.ts";
import { casesOf, suitesOf } from "../conformance/suites.ts";
import { caseInput } from "./case.ts";

/** The parts of Istio's answers that come straight from the registry. */
interface LoadAssignment {
  readonly clusterName: string;
  readonly endpoints?: readonly LocalityGroup[];
}

interface LocalityGroup {
  readonly locality?: { readonly region?: string; readonly zone?: string; readonly subZone?: string };
  readonly lbEndpoints?: readonly {
    readonly endpoint: {
      readonly address: {
        readonly socketAddress?: { readonly address: string; readonly portValue: number };
        readonly pipe?: { readonly path: string };
      };
    };
    readonly healthStatus?: string;
    readonly metadata: { readonly filterMetadata: { readonly istio: { readonly workload: string } } };
  }[];
}

const withoutTail = (text: string): string => text.replace(/\/+$/, "");

/** Address, workload text, locality and health of each endpoint that Istio wrote. */
function written(assignment: LoadAssignment): readonly string[] {
  return (assignment.endpoints ?? []).flatMap(({ locality, lbEndpoints }) => {
    const { region = "", zone = "", subZone = "" } = locality ?? {};
    return (lbEndpoints ?? []).map(({ endpoint, healthStatus = "", metadata }) => {
      const { socketAddress, pipe } = endpoint.address;
      const address = socketAddress === undefined ? pipe?.path : `${socketAddress.address}:${socketAddress.portValue}`;
      const place = withoutTail([region, zone, subZone].join("/"));
      return [address, metadata.filterMetadata.istio.workload, place, healthStatus].join(" ");
    });
  });
}

function known(endpoint: Endpoint): string {
  const { labels, workloadName, namespace, locality, unixPath } = endpoint;
  const name = labels["service.istio.io/canonical-name"] ?? labels["app.kubernetes.io/name"] ?? labels.app;
  const stated = labels["service.istio.io/canonical-revision"] ?? labels["app.kubernetes.io/version"] ?? labels.version;
  const revision = stated === undefined || stated === "latest" ? "" : stated;
  return [
    unixPath || `${endpoint.addresses[0]}:${endpoint.port}`,
    [workloadName, namespace, name ?? workloadName, revision, locality.clusterId].join(";"),
    withoutTail(locality.label),
    endpoint.hasHealth ? "HEALTHY" : "",
  ].join(" ");
}

/** Everything the registry has behind a port of a host, in any namespace. */
function behind(state: RegistryState, host: string, port: number): ReadonlySet<string> {
  const names = new Set(
    state.services
      .filter((service) => service.hostname === host)
      .flatMap((service) => service.ports.filter((candidate) => candidate.port === port).map(({ name }) => name)),
  );
  const endpoints = [...state.endpoints].filter(([key]) => key.slice(key.indexOf("/") + 1) === host);
  return new Set(
    endpoints
      .flatMap(([, list]) => list)
      .filter((endpoint) => endpoint.health === "Healthy" && names.has(endpoint.servicePortName))
      .map(known),
  );
}

/** Endpoints of network gateways have no workload and no health: they stand for others and are no registry's. */
const isGateway = (text: string): boolean => text.includes(" ;;;;") && !text.endsWith("HEALTHY");

describe.each(suitesOf("v3", "v3-samples", "gateway-api"))("the endpoints of the %s cases", (suite) => {
  const readExpected = expectedReader();

  it.each(casesOf(suite))(
    "$name: each one that Istio wrote is known, with its workload, locality and health",
    ({ path }) => {
      const { value: state } = buildRegistry(caseInput(path));
      for (const { endpoints } of Object.values(readExpected(path))) {
        const assignments: readonly LoadAssignment[] = JSON.parse(JSON.stringify(endpoints));
        for (const assignment of assignments) {
          const [, port, , host] = assignment.clusterName.replaceAll("_.", "|").split("|");
          const have = behind(state, host ?? "", Number(port));
          const missing = written(assignment).filter((text) => !isGateway(text) && !have.has(text));
          expect(missing, assignment.clusterName).toEqual([]);
        }
      }
    },
  );
});
