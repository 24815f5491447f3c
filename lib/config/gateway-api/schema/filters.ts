import { z } from "zod";
import type { HTTPRouteFilter, ListenerFilter } from "../http-route.ts";
import {
  anyText,
  corsOrigin,
  fields,
  headerName,
  headerValue,
  listOf,
  portNumber,
  preciseHostname,
  textOf,
  uniqueListOf,
  wholeNumber,
} from "./fields.ts";
import { backendObjectReference, localObjectReference } from "./references.ts";

const itself = (text: string): string => text;
const headers = uniqueListOf(fields({ name: headerName, value: headerValue }, {}), 16, ({ name }) => name);
const headerModifier = fields({}, { set: headers, add: headers, remove: uniqueListOf(z.string(), 16, itself) });

const requestMirror = fields(
  { backendRef: backendObjectReference },
  {
    percent: wholeNumber(0, 100),
    fraction: fields({ numerator: wholeNumber(0), denominator: wholeNumber(1).default(100) }, {}),
  },
);

const pathModifier = fields(
  { type: z.enum(["ReplaceFullPath", "ReplacePrefixMatch"]) },
  { replaceFullPath: anyText(1024), replacePrefixMatch: anyText(1024) },
);

const redirectCodes: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const requestRedirect = fields(
  {
    statusCode: wholeNumber(301, 308)
      .refine((code) => redirectCodes.has(code), { error: "must be one of 301, 302, 303, 307, 308" })
      .default(302),
  },
  { scheme: z.enum(["http", "https"]), hostname: preciseHostname, path: pathModifier, port: portNumber },
);

const urlRewrite = fields({}, { hostname: preciseHostname, path: pathModifier });

const methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"] as const;
export const httpMethod = z.enum(methods);
const headerNames = uniqueListOf(headerName, 64, itself);
const cors = fields(
  { maxAge: wholeNumber(1).default(5) },
  {
    allowOrigins: uniqueListOf(corsOrigin, 64, itself),
    allowCredentials: z.boolean(),
    allowMethods: uniqueListOf(z.enum([...methods, "*"]), 9, itself),
    allowHeaders: headerNames,
    exposeHeaders: headerNames,
  },
);

const plainNames = uniqueListOf(z.string(), 64, itself);
const externalAuth = fields(
  { protocol: z.enum(["HTTP", "GRPC"]), backendRef: backendObjectReference },
  {
    grpc: fields({}, { allowedHeaders: plainNames }),
    http: fields(
      {},
      {
        path: textOf("a path", /^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$/, { min: 0, max: 1024 }),
        allowedHeaders: plainNames,
        allowedResponseHeaders: plainNames,
      },
    ),
    forwardBody: fields({}, { maxSize: wholeNumber(0) }),
  },
);

const ofEveryRoute = {
  requestHeaderModifier: headerModifier,
  responseHeaderModifier: headerModifier,
  requestMirror,
  extensionRef: localObjectReference,
};
const typesOfEveryRoute = ["RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror", "ExtensionRef"] as const;

const httpFilter: z.ZodType<HTTPRouteFilter> = fields(
  { type: z.enum([...typesOfEveryRoute, "RequestRedirect", "URLRewrite", "CORS", "ExternalAuth"]) },
  { ...ofEveryRoute, requestRedirect, urlRewrite, cors, externalAuth },
);
const grpcFilter: z.ZodType<HTTPRouteFilter> = fields({ type: z.enum(typesOfEveryRoute) }, ofEveryRoute);

/** Of listeners: they run before a route is chosen. */
const listenerFilter: z.ZodType<ListenerFilter> = fields(
  { type: z.enum(["ExternalAuth", "ExtensionRef"]) },
  { externalAuth, extensionRef: localObjectReference },
);

export const listenerFilters = fields({}, { requests: listOf(listenerFilter, 16) });
export const httpFilters = listOf(httpFilter, 16);
export const grpcFilters = listOf(grpcFilter, 16);
