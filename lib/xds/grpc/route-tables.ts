import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import { byCodePoint, type ConfigKey, type Diagnostic, type Stage } from "../../base/diagnostic.ts";
import { hostsOverlap, isWildcard } from "../../config/values/host-name.ts";
import { keepList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { GrpcRouteView } from "../../mesh/views/grpc-views.ts";
import { outboundClusterName, parseClusterName } from "../names.ts";
import type { Resource } from "../resource.ts";
import { orderedPieces } from "../routes/resolved-hosts.ts";
import { hostsOfPort } from "../routes/sidecar-tables.ts";
import { tableContext } from "../routes/table-context.ts";
import type { VirtualHostPiece } from "../routes/virtual-host.ts";
import { takenHost } from "./taken-routes.ts";

/** The names of the tables that listeners of programs ask for: those of the clusters that would be called without any routes. */
export function tableNames({ view }: GrpcRouteView): readonly string[] {
  const names = view.scope.services.flatMap(({ hostname, ports }) =>
    ports.map(({ port }) => outboundClusterName(port, "", hostname)),
  );
  return [...new Set(names)].sort(byCodePoint);
}

/**
 * Route tables of programs, by names of clusters. A host that nobody has gets what its port has for it, a port that nobody has an empty
 * table.
 *
 * @returns in the order of the names; none for what is no name of a cluster
 * @see istio 1.30.3 pilot/pkg/networking/grpcgen/rds.go
 */
export function grpcTables(
  { view, wholePorts, sendsRefusals }: GrpcRouteView,
  names: readonly string[],
  memo: Memo,
): Stage<readonly Resource<RouteConfigurationJson>[]> {
  const table = tableContext(view, memo, true);
  const diagnostics: Diagnostic[] = [];
  const byPort = new Map<number, readonly VirtualHostPiece[]>();
  const piecesOf = (port: number): readonly VirtualHostPiece[] => {
    const known = byPort.get(port);
    if (known !== undefined) return known;
    const { value: hosts, diagnostics: found } = hostsOfPort(port, "", table);
    diagnostics.push(...found);
    const pieces = orderedPieces(memo, hosts);
    byPort.set(port, pieces);
    return pieces;
  };
  const value = names.flatMap((name) => {
    const { host = "", port = 0 } = parseClusterName(name) ?? {};
    if (host === "" || port === 0) return [];
    const ofPort = piecesOf(port);
    const pieces = (wholePorts ? ofPort : ofPort.filter((piece) => answersTo(piece, host.toLowerCase(), port))).map(
      (piece) => (sendsRefusals ? piece : takenHost(memo, { piece })),
    );
    const kept = keepList(memo, `gRPC route table|${view.key()}|${name}`, pieces);
    return [grpcTable(memo, { name, pieces: kept })];
  });
  return { value, diagnostics };
}

/** Whether a virtual host is the host's own, or one of those that stand for it. */
function answersTo({ json: { domains = [] } }: VirtualHostPiece, host: string, port: number): boolean {
  return domains.some((written) => {
    const domain = written.toLowerCase();
    const bare = domain.endsWith(`:${port}`) ? domain.slice(0, domain.lastIndexOf(":")) : domain;
    return bare === host || (isWildcard(bare) && hostsOverlap(host, bare));
  });
}

const grpcTable = query(
  "gRPC route table",
  ({
    name,
    pieces,
  }: {
    readonly name: string;
    readonly pieces: readonly VirtualHostPiece[];
  }): Resource<RouteConfigurationJson> => {
    const from = new Set<ConfigKey>(pieces.flatMap((piece) => piece.from));
    const json = { name, ...(pieces.length === 0 ? {} : { virtualHosts: pieces.map((piece) => piece.json) }) };
    return { name, json, from: [...from] };
  },
);
