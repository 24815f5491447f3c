import type { BodyLimits, ReadBody } from "../../limits/read-body.ts";
import type { Caller, Scope } from "../auth/caller.ts";
import { scopeOf } from "../auth/scope.ts";
import type { Answer, Sooner } from "./answer.ts";
import type { FrontRequest } from "./front-request.ts";

/** A request that was let in, at the handler of its path. */
export interface Asked extends Place {
  readonly request: FrontRequest;
  /** Who asks; undefined only where anybody may. */
  readonly caller: Caller | undefined;
}

/** Where a request leads, by its path and query. */
export interface Place {
  /** Decoded; a slash within a segment stays encoded. */
  readonly path: string;
  /** By the names that the route has, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** What answers a method and a path. HEAD is answered as GET, without the body. */
export interface Route {
  readonly method: "GET" | "POST" | "any";
  /** `:name` stands for one segment, `*` at the end for all that follow. */
  readonly path: string;
  /** Whether it answers a body of this type; absent: any. The first route that does is taken. */
  readonly takes?: (contentType: string) => boolean;
  readonly to: Handler;
}

/** Answers without a body, or once the body was read within its limits. */
export type Handler =
  | { readonly kind: "plain"; answer(asked: Asked): Sooner<Answer> }
  | { readonly kind: "body"; readonly limits: BodyLimits; answer(asked: Asked, body: ReadBody): Sooner<Answer> };

export const plain = (answer: (asked: Asked) => Sooner<Answer>): Handler => ({ kind: "plain", answer });
export const withBody = (limits: BodyLimits, answer: (asked: Asked, body: ReadBody) => Sooner<Answer>): Handler => ({
  kind: "body",
  limits,
  answer,
});

/** A path that was looked up: who may ask, and what may answer. */
export interface Found extends Place {
  readonly scope: Scope | undefined;
  readonly routes: readonly Route[];
}

export interface RouteTable {
  add(routes: readonly Route[]): void;
  /** @param method GET for HEAD. @returns undefined for a target that cannot be read */
  find(method: string, target: string): Found | undefined;
}

/** Routes by their paths. A path without a parameter comes before one with some; else the first that was added. */
export function createRouteTable(): RouteTable {
  const fixed = new Map<string, Route[]>();
  const patterns: { readonly segments: readonly string[]; readonly route: Route }[] = [];
  /** What POST finds at a fixed path as it is usually written. It holds paths of ours alone, so nobody can fill it. */
  const usual = new Map<string, Found>();

  function routesAt(method: string, segments: readonly string[], path: string): Pick<Found, "routes" | "params"> {
    const routes = (fixed.get(path) ?? []).filter((route) => answers(route, method));
    if (routes.length > 0) return { routes, params: {} };
    for (const { segments: pattern, route } of patterns) {
      const params = answers(route, method) ? paramsIn(pattern, segments) : undefined;
      if (params !== undefined) return { routes: [route], params };
    }
    return { routes: [], params: {} };
  }

  return {
    add(routes) {
      for (const route of routes) {
        if (/\/[:*]/.test(route.path)) patterns.push({ segments: route.path.split("/"), route });
        else fixed.set(route.path, [...(fixed.get(route.path) ?? []), route]);
      }
      usual.clear();
      for (const path of fixed.keys()) {
        const found = { ...routesAt("POST", path.split("/"), path), path, query: new URLSearchParams() };
        if (found.routes.length > 0) usual.set(path, { ...found, scope: scopeOf("POST", path) });
      }
    },
    find(method, target) {
      const known = method === "POST" ? usual.get(target) : undefined;
      if (known !== undefined) return known;
      const url = readTarget(target);
      const segments = url?.pathname.split("/").map(decoded);
      if (url === undefined || segments === undefined) return undefined;
      const path = segments.map((segment) => segment.replaceAll("/", "%2F")).join("/");
      return { ...routesAt(method, segments, path), path, query: url.searchParams, scope: scopeOf(method, path) };
    },
  };
}

const answers = ({ method }: Route, asked: string): boolean => method === "any" || method === asked;

/** @returns undefined where a path does not have the form */
function paramsIn(
  pattern: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const params: Record<string, string> = {};
  for (const [at, form] of pattern.entries()) {
    if (form === "*") return params;
    const segment = segments[at];
    if (segment === undefined) return undefined;
    if (!form.startsWith(":")) {
      if (form !== segment) return undefined;
    } else if (segment === "") return undefined;
    else params[form.slice(1)] = segment;
  }
  return segments.length === pattern.length ? params : undefined;
}

/** @returns undefined for what is no path of this server, as one that begins with another's name */
const readTarget = (target: string): URL | undefined =>
  target.startsWith("/") ? (URL.parse(`http://front${target}`) ?? undefined) : undefined;

/** A segment that cannot be decoded is as it was sent. */
function decoded(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
