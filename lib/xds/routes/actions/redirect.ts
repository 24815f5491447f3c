import type {
  DirectResponseActionJson,
  RedirectAction_RedirectResponseCodeJson,
  RedirectActionJson,
} from "../../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { HTTPDirectResponse, HTTPRedirect } from "../../../config/kinds/virtual-service.ts";

/** Where the route stands, as far as a redirect's port depends on it. */
export interface RedirectContext {
  readonly port: number;
  readonly terminatesTls: boolean;
}

/**
 * Translates a redirect; undefined for a status code that Envoy cannot answer with.
 * The path is written even if it is empty, which leaves the request's own.
 * @see docs/how-istio-does-it/routes.md#redirects
 */
export function redirectAction(redirect: HTTPRedirect, context: RedirectContext): RedirectActionJson | undefined {
  const responseCode = responseCodes.get(redirect.redirectCode ?? 301);
  if (responseCode === undefined) return undefined;
  const portRedirect = redirectPort(redirect, context);
  return {
    ...(redirect.scheme === undefined || redirect.scheme === "" ? {} : { schemeRedirect: redirect.scheme }),
    ...(redirect.authority === undefined || redirect.authority === "" ? {} : { hostRedirect: redirect.authority }),
    ...(portRedirect === 0 ? {} : { portRedirect }),
    ...(redirect.prefixRewrite === undefined
      ? { pathRedirect: redirect.uri ?? "" }
      : { prefixRewrite: redirect.prefixRewrite }),
    // Envoy's default is not written.
    ...(responseCode === "MOVED_PERMANENTLY" ? {} : { responseCode }),
  };
}

const responseCodes: ReadonlyMap<number, RedirectAction_RedirectResponseCodeJson> = new Map([
  [0, "MOVED_PERMANENTLY"],
  [301, "MOVED_PERMANENTLY"],
  [302, "FOUND"],
  [303, "SEE_OTHER"],
  [307, "TEMPORARY_REDIRECT"],
  [308, "PERMANENT_REDIRECT"],
]);

/** 0: the port is not named, either because nobody asked for one or because it is the scheme's own. */
function redirectPort(redirect: HTTPRedirect, context: RedirectContext): number {
  const port = redirect.port ?? (redirect.derivePort === "FROM_REQUEST_PORT" ? context.port : 0);
  const scheme = redirect.scheme || (context.terminatesTls ? "https" : "http");
  const isDefault = (port === 80 && scheme === "http") || (port === 443 && scheme === "https");
  return isDefault ? 0 : port;
}

/** Translates an answer that Envoy gives itself. */
export function directResponseAction(response: HTTPDirectResponse): DirectResponseActionJson {
  const { status, body } = response;
  if (body?.string !== undefined) return { status, body: { inlineString: body.string } };
  if (body?.bytes !== undefined) return { status, body: { inlineBytes: body.bytes } };
  return { status };
}
