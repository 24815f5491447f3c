import { z } from "zod";
import type { HTTPRouteMatch, KubernetesHTTPRoute, SessionPersistence } from "../http-route.ts";
import type { GRPCRoute, KubernetesTCPRoute, KubernetesTLSRoute } from "../other-routes.ts";
import {
  anyText,
  fields,
  gatewayDuration,
  headerName,
  headerValue,
  hostname,
  listOf,
  sectionName,
  uniqueListOf,
  wholeNumber,
} from "./fields.ts";
import { grpcFilters, httpFilters, httpMethod } from "./filters.ts";
import { backendFields, backendRef, parentReferences } from "./references.ts";

const common = { parentRefs: parentReferences, useDefaultGateways: z.enum(["All", "None"]) };
const matchType = z.enum(["Exact", "RegularExpression"]).default("Exact");

const namedMatches = (value: z.ZodType<string>) =>
  uniqueListOf(fields({ type: matchType, name: headerName, value }, {}), 16, ({ name }) => name);

const everyPath = { type: "PathPrefix", value: "/" } as const;
const httpMatch: z.ZodType<HTTPRouteMatch> = fields(
  {
    path: fields(
      {
        type: z.enum(["Exact", "PathPrefix", "RegularExpression"]).default("PathPrefix"),
        value: anyText(1024).default("/"),
      },
      {},
    ).default(everyPath),
  },
  { headers: namedMatches(headerValue), queryParams: namedMatches(anyText(1024, 1)), method: httpMethod },
);
const everyRequest = [{ path: everyPath }];

const lifetimeType = z.enum(["Permanent", "Session"]).default("Session");

const persistenceType = z.enum(["Cookie", "Header"]).default("Cookie");
const persistence17 = {
  absoluteTimeout: gatewayDuration,
  cookie: fields({ lifetimeType, path: anyText(1024).default("/") }, { name: headerName }),
  header: fields({ name: headerName }, {}),
};

/** Its members have other names from 1.7 on. */
export const sessionPersistence: z.ZodType<SessionPersistence> = fields(
  { type: persistenceType },
  {
    sessionName: anyText(128),
    idleTimeout: gatewayDuration,
    cookieConfig: fields({ lifetimeType }, {}),
    ...persistence17,
  },
);

/** Of an XBackend, which has it from 1.7 on. */
export const backendPersistence: z.ZodType<SessionPersistence> = fields({ type: persistenceType }, persistence17);

const httpRule = fields(
  { matches: listOf(httpMatch, 64).default(everyRequest) },
  {
    name: sectionName,
    filters: httpFilters,
    backendRefs: listOf(fields(backendFields.required, { ...backendFields.other, filters: httpFilters }), 16),
    timeouts: fields({}, { request: gatewayDuration, backendRequest: gatewayDuration }),
    retry: fields(
      {},
      { codes: z.array(wholeNumber(400, 599)), attempts: wholeNumber(-2_147_483_648), backoff: gatewayDuration },
    ),
    sessionPersistence,
  },
);

export const httpRoute: z.ZodType<KubernetesHTTPRoute> = fields(
  { rules: listOf(httpRule, 16, 1).default([{ matches: everyRequest }]) },
  { ...common, hostnames: listOf(hostname, 16) },
);

const grpcRule = fields(
  {},
  {
    name: sectionName,
    matches: listOf(
      fields(
        {},
        {
          method: fields({ type: matchType }, { service: anyText(1024), method: anyText(1024) }),
          headers: namedMatches(anyText(4096, 1)),
        },
      ),
      64,
    ),
    filters: grpcFilters,
    backendRefs: listOf(fields(backendFields.required, { ...backendFields.other, filters: grpcFilters }), 16),
    sessionPersistence,
  },
);

export const grpcRoute: z.ZodType<GRPCRoute> = fields(
  {},
  { ...common, hostnames: listOf(hostname, 16), rules: listOf(grpcRule, 16) },
);

const streamRule = fields({ backendRefs: listOf(backendRef, 16, 1) }, { name: sectionName });

/** Older versions, which are still served, need no host names. */
export const tlsRoute: z.ZodType<KubernetesTLSRoute> = fields(
  { rules: listOf(streamRule, 16, 1) },
  { ...common, hostnames: listOf(hostname, 1024) },
);

export const tcpRoute: z.ZodType<KubernetesTCPRoute> = fields({ rules: listOf(streamRule, 16, 1) }, common);
