/**
 * External authorizers: providers of MeshConfig that a CUSTOM policy names.
 * @see docs/how-istio-does-it/security.md#external-authorization
 */
import { enumToJson } from "@bufbuild/protobuf";
import type { GrpcServiceJson } from "../../../gen/envoy/config/core/v3/grpc_service_pb.ts";
import type { ExtAuthzJson as HttpExtAuthzJson } from "../../../gen/envoy/extensions/filters/http/ext_authz/v3/ext_authz_pb.ts";
import type { ExtAuthzJson as TcpExtAuthzJson } from "../../../gen/envoy/extensions/filters/network/ext_authz/v3/ext_authz_pb.ts";
import type { ListStringMatcherJson } from "../../../gen/envoy/type/matcher/v3/string_pb.ts";
import { StatusCode, type StatusCodeJson, StatusCodeSchema } from "../../../gen/envoy/type/v3/http_status_pb.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import type {
  EnvoyExternalAuthorizationGrpcProvider,
  EnvoyExternalAuthorizationHttpProvider,
  ExtensionProvider,
} from "../../config/kinds/extension-provider.ts";
import { tcpFilterStatPrefix } from "../names.ts";
import { type ProviderLookups, providerCluster } from "../telemetry/provider-cluster.ts";

/** The authorizer's filter config without the part that names a policy; `tcp` only for gRPC, HTTP cannot serve it. */
export interface Authorizer {
  readonly http: HttpExtAuthzJson;
  readonly tcp: TcpExtAuthzJson | undefined;
}

/** An authorizer, or why there is none. */
export type AuthorizerLookup = Authorizer | { readonly error: string };

/** Default of Envoy's required timeout, as Istio sets it. */
const defaultTimeout = "600s";

/** Finds and translates a provider by its name. */
export function findAuthorizer(name: string, lookups: ProviderLookups): AuthorizerLookup {
  const candidates = lookups.mesh.extensionProviders.filter(
    (provider) => provider.name === name && (provider.envoyExtAuthzHttp ?? provider.envoyExtAuthzGrpc) !== undefined,
  );
  const [provider, ...others] = candidates;
  if (provider === undefined) return { error: `no extension provider named ${name} is an external authorizer` };
  if (others.length > 0) return { error: `the extension provider ${name} is defined more than once` };
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
    return { error: `the extension provider name ${name} is no DNS label` };
  }
  return authorizer(provider, lookups);
}

function authorizer(provider: ExtensionProvider, lookups: ProviderLookups): AuthorizerLookup {
  const config = provider.envoyExtAuthzHttp ?? provider.envoyExtAuthzGrpc;
  if (config === undefined) return { error: `the extension provider ${provider.name} is no external authorizer` };
  if (config.port < 1 || config.port > 65535)
    return { error: `port ${config.port} of ${provider.name} is out of range` };
  const found = providerCluster(lookups, config);
  if (found === undefined) return { error: `no service ${config.service} for the extension provider ${provider.name}` };
  const status = statusCode(config.statusOnError);
  if (status === "unknown")
    return { error: `statusOnError ${config.statusOnError} of ${provider.name} is not supported` };
  const service: Upstream = { host: found.hostname, cluster: found.cluster, status };
  return provider.envoyExtAuthzHttp !== undefined
    ? httpAuthorizer(provider.envoyExtAuthzHttp, service)
    : grpcAuthorizer(config, service);
}

interface Upstream {
  readonly host: string;
  readonly cluster: string;
  readonly status: StatusCodeJson | undefined;
}

function statusCode(text: string | undefined): StatusCodeJson | undefined | "unknown" {
  if (text === undefined || text === "") return undefined;
  const code = Object.values(StatusCode).find((known) => String(known) === text);
  return code === undefined ? "unknown" : enumToJson(StatusCodeSchema, code);
}

function httpAuthorizer(config: EnvoyExternalAuthorizationHttpProvider, upstream: Upstream): AuthorizerLookup {
  const lists = [
    config.includeRequestHeadersInCheck,
    config.includeHeadersInCheck,
    config.headersToUpstreamOnAllow,
    config.headersToDownstreamOnDeny,
    config.headersToDownstreamOnAllow,
  ];
  if (lists.some((list) => list?.includes("*")))
    return { error: "a bare * names no header; write a prefix or a suffix" };
  if (config.pathPrefix?.startsWith("/") === false)
    return { error: `pathPrefix ${config.pathPrefix} must begin with /` };
  const allowedHeaders =
    headerPatterns(config.includeRequestHeadersInCheck) ?? headerPatterns(config.includeHeadersInCheck);
  const headersToAdd = Object.entries(config.includeAdditionalHeadersInCheck ?? {})
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([key, value]) => ({ key, value }));
  const allowedUpstreamHeaders = headerPatterns(config.headersToUpstreamOnAllow);
  const allowedClientHeaders = headerPatterns(config.headersToDownstreamOnDeny);
  const allowedClientHeadersOnSuccess = headerPatterns(config.headersToDownstreamOnAllow);
  const authorizationResponse = {
    ...(allowedUpstreamHeaders === undefined ? {} : { allowedUpstreamHeaders }),
    ...(allowedClientHeaders === undefined ? {} : { allowedClientHeaders }),
    ...(allowedClientHeadersOnSuccess === undefined ? {} : { allowedClientHeadersOnSuccess }),
  };
  const http: HttpExtAuthzJson = {
    ...commonFields(config, upstream),
    httpService: {
      serverUri: {
        uri: `http://${upstream.host}`,
        cluster: upstream.cluster,
        timeout: config.timeout ?? defaultTimeout,
      },
      ...(config.pathPrefix === undefined ? {} : { pathPrefix: config.pathPrefix }),
      ...(headersToAdd.length === 0 ? {} : { authorizationRequest: { headersToAdd } }),
      ...(Object.keys(authorizationResponse).length === 0 ? {} : { authorizationResponse }),
    },
    ...(allowedHeaders === undefined ? {} : { allowedHeaders }),
  };
  return { http, tcp: undefined };
}

function grpcAuthorizer(config: EnvoyExternalAuthorizationGrpcProvider, upstream: Upstream): Authorizer {
  const grpcService: GrpcServiceJson = {
    envoyGrpc: { clusterName: upstream.cluster, authority: upstream.host },
    timeout: config.timeout ?? defaultTimeout,
  };
  return {
    http: { ...commonFields(config, upstream), grpcService },
    tcp: {
      statPrefix: tcpFilterStatPrefix,
      ...(config.failOpen ? { failureModeAllow: true } : {}),
      transportApiVersion: "V3",
      grpcService,
    },
  };
}

function commonFields(
  config: EnvoyExternalAuthorizationHttpProvider | EnvoyExternalAuthorizationGrpcProvider,
  upstream: Upstream,
): HttpExtAuthzJson {
  const body = config.includeRequestBodyInCheck;
  return {
    transportApiVersion: "V3",
    ...(config.failOpen ? { failureModeAllow: true } : {}),
    ...(upstream.status === undefined ? {} : { statusOnError: { code: upstream.status } }),
    ...(body === undefined
      ? {}
      : {
          withRequestBody: {
            ...(body.maxRequestBytes ? { maxRequestBytes: body.maxRequestBytes } : {}),
            ...(body.allowPartialMessage ? { allowPartialMessage: true } : {}),
            ...(body.packAsBytes ? { packAsBytes: true } : {}),
          },
        }),
  };
}

/** Header names: exact, `prefix*` or `*suffix`, never case-sensitive. */
function headerPatterns(names: readonly string[] | undefined): ListStringMatcherJson | undefined {
  if (names === undefined || names.length === 0) return undefined;
  const patterns = names.map((name) => {
    if (name.startsWith("*")) return { suffix: name.slice(1), ignoreCase: true };
    if (name.endsWith("*")) return { prefix: name.slice(0, -1), ignoreCase: true };
    return { exact: name, ignoreCase: true };
  });
  return { patterns };
}
