import { type GrpcBootstrap, grpcBootstrapOf } from "../../agent/grpc-bootstrap.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { WorkloadProxy } from "../../mesh/proxy/proxy-of-workload.ts";
import type { CertificateSource } from "../../mesh/world.ts";
import { serverAt } from "../server-url.ts";

interface Options {
  readonly server: string;
  readonly certificates: CertificateSource;
  readonly certificateFolder: string;
  readonly tokenFile?: string;
}

/** What a gRPC program is started with, as the JSON that it reads. @throws PortolanError for a token, which no bootstrap of gRPC can name */
export function grpcBootstrapText({ node }: WorkloadProxy, options: Options): string {
  if (options.tokenFile !== undefined)
    throw new PortolanError(
      "--token-file is for Envoys: gRPC programs send no token; let a proxy in front prove their identity (docs/security.md)",
    );
  return JSON.stringify(grpcBootstrapFor({ node }, options), undefined, 2);
}

/** The same as a value. Programs know no SDS: whatever brings certificates has to write them into files. */
export function grpcBootstrapFor(
  { node }: Pick<WorkloadProxy, "node">,
  { server, certificates, certificateFolder }: Omit<Options, "tokenFile">,
): GrpcBootstrap {
  return grpcBootstrapOf({
    nodeId: node.id,
    nodeCluster: node.cluster,
    metadata: JSON.parse(JSON.stringify(node.metadata)),
    ...(node.locality === undefined ? {} : { locality: node.locality }),
    server: serverAt(server),
    certificateFolder: certificates === "none" ? undefined : certificateFolder,
  });
}
