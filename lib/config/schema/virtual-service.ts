import { z } from "zod";
import type { Destination, HTTPRetry, PortSelector, StringMatch, VirtualService } from "../kinds/virtual-service.ts";
import { message } from "./message.ts";
import { double, duration, flag, int32, stringMap, text, texts, uint32 } from "./scalars.ts";

export const portSelector: z.ZodType<PortSelector> = message({ plain: { number: uint32 } });

export const destination: z.ZodType<Destination> = message({
  required: { host: text.default("") },
  plain: { subset: text },
  kept: { port: portSelector },
});

const stringMatch: z.ZodType<StringMatch> = message({ kept: { exact: text, prefix: text, regex: text } });
const stringMatches = z.record(text, stringMatch);
const percent = message({ plain: { value: double } });
const headerOperations = message({ plain: { set: stringMap, add: stringMap, remove: texts } });
const headers = message({ kept: { request: headerOperations, response: headerOperations } });

export const httpRetry: z.ZodType<HTTPRetry> = message({
  plain: { attempts: int32, retryOn: text },
  kept: { perTryTimeout: duration, retryRemoteLocalities: flag, retryIgnorePreviousHosts: flag, backoff: duration },
});

const httpMatch = message({
  plain: {
    name: text,
    headers: stringMatches,
    withoutHeaders: stringMatches,
    queryParams: stringMatches,
    port: uint32,
    sourceLabels: stringMap,
    gateways: texts,
    ignoreUriCase: flag,
    sourceNamespace: text,
    statPrefix: text,
  },
  kept: { uri: stringMatch, scheme: stringMatch, method: stringMatch, authority: stringMatch },
});

const redirect = message({
  plain: { uri: text, authority: text, scheme: text, redirectCode: uint32, prefixRewrite: text },
  kept: { port: uint32, derivePort: z.enum(["FROM_PROTOCOL_DEFAULT", "FROM_REQUEST_PORT"]) },
});

const fault = message({
  kept: {
    delay: message({
      plain: { percent: int32 },
      kept: { fixedDelay: duration, exponentialDelay: duration, percentage: percent },
    }),
    abort: message({
      plain: { percent: int32 },
      kept: { httpStatus: int32, grpcStatus: text, http2Error: text, percentage: percent },
    }),
  },
});

const cors = message({
  plain: {
    allowOrigins: stringMatch.array(),
    allowOrigin: texts,
    allowMethods: texts,
    allowHeaders: texts,
    exposeHeaders: texts,
    unmatchedPreflights: z.enum(["UNSPECIFIED", "FORWARD", "IGNORE"]),
  },
  kept: { maxAge: duration, allowCredentials: flag },
});

const httpRoute = message({
  plain: {
    name: text,
    match: httpMatch.array(),
    route: message({ required: { destination }, plain: { weight: int32 }, kept: { headers } }).array(),
    mirrors: message({ required: { destination }, kept: { percentage: percent } }).array(),
    websocketUpgrade: flag,
    appendHeaders: stringMap,
    removeResponseHeaders: stringMap,
  },
  kept: {
    redirect,
    directResponse: message({
      required: { status: uint32.default(0) },
      kept: { body: message({ kept: { string: text, bytes: text } }) },
    }),
    delegate: message({ plain: { name: text, namespace: text } }),
    rewrite: message({
      plain: { uri: text, authority: text },
      kept: { uriRegexRewrite: message({ plain: { match: text, rewrite: text } }) },
    }),
    timeout: duration,
    retries: httpRetry,
    fault,
    mirror: destination,
    mirrorPercent: uint32,
    mirrorPercentage: percent,
    corsPolicy: cors,
    headers,
  },
});

const routeDestinations = message({ required: { destination }, plain: { weight: int32 } }).array();

const l4Match = {
  destinationSubnets: texts,
  port: uint32,
  sourceLabels: stringMap,
  gateways: texts,
  sourceNamespace: text,
};

const tlsRoute = message({
  required: {
    match: message({ required: { sniHosts: texts.default([]) }, plain: l4Match })
      .array()
      .default([]),
  },
  plain: { route: routeDestinations },
});

const tcpRoute = message({
  plain: { match: message({ plain: { ...l4Match, sourceSubnet: text } }).array(), route: routeDestinations },
});

export const virtualService: z.ZodType<VirtualService> = message({
  required: { hosts: texts.default([]) },
  plain: { gateways: texts, http: httpRoute.array(), tls: tlsRoute.array(), tcp: tcpRoute.array(), exportTo: texts },
});
