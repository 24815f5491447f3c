import { z } from "zod";
import type { AuthenticationPolicy } from "../kinds/legacy/authentication-policy.ts";
import type { DestinationPolicy } from "../kinds/legacy/destination-policy.ts";
import type { EgressRule } from "../kinds/legacy/egress-rule.ts";
import type { IngressRule } from "../kinds/legacy/ingress-rule.ts";
import type { IstioService } from "../kinds/legacy/istio-service.ts";
import type { MatchCondition, RouteRule } from "../kinds/legacy/route-rule.ts";
import type { StringMatch } from "../kinds/virtual-service.ts";
import { message } from "./message.ts";
import { anyDuration, double, duration, flag, int32, stringMap, struct, text, texts, uint32 } from "./scalars.ts";

/** Kinds of `config.istio.io/v1alpha2` and `authentication.istio.io/v1alpha1` that v1 answers are made from. */
export const istioService: z.ZodType<IstioService> = message({
  plain: { name: text, namespace: text, domain: text, service: text, labels: stringMap },
});

export const legacyStringMatch: z.ZodType<StringMatch> = message({ kept: { exact: text, prefix: text, regex: text } });

const l4Match = message({ plain: { sourceSubnet: texts, destinationSubnet: texts } });

const matchCondition: z.ZodType<MatchCondition> = message({
  kept: {
    source: istioService,
    tcp: l4Match,
    udp: l4Match,
    request: message({ plain: { headers: z.record(text, legacyStringMatch) } }),
  },
});

const uriAndAuthority = message({ plain: { uri: text, authority: text } });

const fault = message({
  kept: {
    delay: message({
      plain: { percent: double, overrideHeaderName: text },
      kept: { fixedDelay: duration, exponentialDelay: duration },
    }),
    abort: message({
      plain: { percent: double, overrideHeaderName: text },
      kept: { httpStatus: int32, grpcStatus: text, http2Error: text },
    }),
  },
});

export const routeRule: z.ZodType<RouteRule> = message({
  required: { destination: istioService },
  plain: {
    precedence: int32,
    route: message({ plain: { labels: stringMap, weight: int32 }, kept: { destination: istioService } }).array(),
    websocketUpgrade: flag,
    appendHeaders: stringMap,
  },
  kept: {
    match: matchCondition,
    redirect: uriAndAuthority,
    rewrite: uriAndAuthority,
    httpReqTimeout: message({
      kept: {
        simpleTimeout: message({ plain: { overrideHeaderName: text }, kept: { timeout: duration } }),
        custom: struct,
      },
    }),
    httpReqRetries: message({
      kept: {
        simpleRetry: message({
          plain: { attempts: int32, overrideHeaderName: text },
          kept: { perTryTimeout: duration },
        }),
        custom: struct,
      },
    }),
    httpFault: fault,
    l4Fault: struct,
    mirror: istioService,
    corsPolicy: message({
      plain: { allowOrigin: texts, allowMethods: texts, allowHeaders: texts, exposeHeaders: texts },
      kept: { maxAge: duration, allowCredentials: flag },
    }),
  },
});

export const egressRule: z.ZodType<EgressRule> = message({
  required: {
    destination: istioService,
    ports: message({ required: { port: int32.default(0), protocol: text.default("") } })
      .array()
      .default([]),
  },
  plain: { useEgressProxy: flag },
});

export const destinationPolicy: z.ZodType<DestinationPolicy> = message({
  required: { destination: istioService },
  kept: {
    source: istioService,
    loadBalancing: message({ kept: { name: z.enum(["ROUND_ROBIN", "LEAST_CONN", "RANDOM"]), custom: struct } }),
    circuitBreaker: message({
      kept: {
        simpleCb: message({
          plain: {
            maxConnections: int32,
            httpMaxPendingRequests: int32,
            httpMaxRequests: int32,
            httpConsecutiveErrors: int32,
            httpMaxRequestsPerConnection: int32,
            httpMaxEjectionPercent: int32,
            httpMaxRetries: int32,
          },
          kept: { sleepWindow: anyDuration, httpDetectionInterval: anyDuration },
        }),
        custom: struct,
      },
    }),
    custom: struct,
  },
});

export const ingressRule: z.ZodType<IngressRule> = message({
  required: { destination: istioService },
  plain: { precedence: int32, port: int32, tlsSecret: text },
  kept: { match: matchCondition, destinationPort: int32, destinationPortName: text },
});

const pathMatches = message({ kept: { exact: text, prefix: text, suffix: text, regex: text } }).array();

const jwt = message({
  plain: {
    issuer: text,
    audiences: texts,
    jwksUri: text,
    jwks: text,
    jwtHeaders: texts,
    jwtParams: texts,
    triggerRules: message({ plain: { excludedPaths: pathMatches, includedPaths: pathMatches } }).array(),
  },
});

export const authenticationPolicy: z.ZodType<AuthenticationPolicy> = message({
  plain: {
    targets: message({
      required: { name: text.default("") },
      plain: {
        subset: text,
        labels: stringMap,
        ports: message({ kept: { number: uint32, name: text } }).array(),
      },
    }).array(),
    peers: message({
      kept: {
        mtls: message({ plain: { allowTls: flag, mode: z.enum(["STRICT", "PERMISSIVE"]) } }),
        jwt,
      },
    }).array(),
    peerIsOptional: flag,
    origins: message({ kept: { jwt } }).array(),
    originIsOptional: flag,
    principalBinding: z.enum(["USE_PEER", "USE_ORIGIN"]),
  },
});
