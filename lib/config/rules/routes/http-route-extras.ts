import { durationMs } from "../../../base/duration.ts";
import { error, type Finding, type Path, warning } from "../../finding.ts";
import type { CorsPolicy, HTTPDirectResponse, HTTPFaultInjection, HTTPRoute } from "../../kinds/virtual-service.ts";
import { isToken } from "../names.ts";
import { regexRules } from "../regex.ts";
import { each, fractionalPercentRules, percentRules } from "../values.ts";
import { grpcStatusNames } from "./http-status.ts";
import { destinationRules } from "./route-destination.ts";

const corsMethods: ReadonlySet<string> = new Set("GET HEAD POST PUT PATCH DELETE CONNECT OPTIONS TRACE *".split(" "));

export function* corsRules(cors: CorsPolicy | undefined, path: Path): Generator<Finding> {
  if (cors === undefined) return;
  yield* each(cors.allowOrigins, [...path, "allowOrigins"], function* (origin, at) {
    const [text] = Object.values(origin);
    if (text === undefined || text === "") yield error(at, "an origin must not be empty");
    else if (origin.regex !== undefined) yield* regexRules(origin.regex, [...at, "regex"]);
  });
  yield* each(cors.allowMethods, [...path, "allowMethods"], function* (method, at) {
    if (!corsMethods.has(method))
      yield error(at, `${JSON.stringify(method)} is not an HTTP method`, "methods are upper case");
  });
  for (const name of ["allowHeaders", "exposeHeaders"] as const) {
    yield* each(cors[name], [...path, name], function* (header, at) {
      if (header !== "*" && !isToken(header)) yield error(at, `${JSON.stringify(header)} is not a header name`);
    });
  }
  if (cors.maxAge !== undefined && durationMs(cors.maxAge) % 1000 !== 0) {
    yield error([...path, "maxAge"], `${cors.maxAge} is not a whole number of seconds`);
  }
}

/** `0..599` and 600, as Istio has it, although its message says 599. */
function* statusRules(status: number, path: Path): Generator<Finding> {
  if (status < 200 || status > 600) yield error(path, `HTTP status ${status} is not between 200 and 599`);
}

export function* faultRules(fault: HTTPFaultInjection | undefined, path: Path): Generator<Finding> {
  if (fault === undefined) return;
  const { delay, abort } = fault;
  if (delay === undefined && abort === undefined) {
    yield error(path, "needs a delay or an abort", "", "missing-field");
  }
  if (abort !== undefined) {
    const at = [...path, "abort"];
    yield* fractionalPercentRules(abort.percentage?.value, [...at, "percentage", "value"]);
    yield* percentRules(abort.percent, [...at, "percent"]);
    if (abort.percent !== undefined) {
      yield warning([...at, "percent"], "is release 0.8's, and has an effect on the v1 API only", "use percentage");
    }
    if (abort.http2Error !== undefined)
      yield error([...at, "http2Error"], "is not supported", "use httpStatus or grpcStatus");
    if (abort.grpcStatus !== undefined && !grpcStatusNames.has(abort.grpcStatus)) {
      yield error(
        [...at, "grpcStatus"],
        `${JSON.stringify(abort.grpcStatus)} is not a gRPC status`,
        "such as UNAVAILABLE",
      );
    }
    if (abort.httpStatus !== undefined) yield* statusRules(abort.httpStatus, [...at, "httpStatus"]);
    if (abort.httpStatus === undefined && abort.grpcStatus === undefined && abort.http2Error === undefined) {
      yield warning(at, "has no status, so nothing is aborted", "give httpStatus or grpcStatus");
    }
  }
  if (delay !== undefined) {
    const at = [...path, "delay"];
    yield* fractionalPercentRules(delay.percentage?.value, [...at, "percentage", "value"]);
    yield* percentRules(delay.percent, [...at, "percent"]);
    if (delay.percent !== undefined) yield warning([...at, "percent"], "is deprecated", "use percentage");
    if (delay.exponentialDelay !== undefined)
      yield error([...at, "exponentialDelay"], "is not supported", "use fixedDelay");
  }
}

const kibibyte = 1024;

export function* directResponseRules(response: HTTPDirectResponse | undefined, path: Path): Generator<Finding> {
  if (response === undefined) return;
  yield* statusRules(response.status, [...path, "status"]);
  const { body } = response;
  if (body === undefined) return;
  const at = [...path, "body"];
  if (body.string !== undefined && body.bytes !== undefined) {
    yield error(at, "string and bytes exclude each other", "keep one of them", "conflicting-fields");
  }
  const size = body.string?.length ?? ((body.bytes?.length ?? 0) * 3) / 4;
  if (size > kibibyte * kibibyte) yield error(at, "is larger than 1 MiB");
  else if (size > 100 * kibibyte) yield warning(at, "is larger than 100 KiB, and sent to every proxy");
}

export function* mirrorRules(route: HTTPRoute, path: Path): Generator<Finding> {
  if (route.mirror !== undefined && route.mirrors !== undefined) {
    yield error([...path, "mirrors"], "mirror and mirrors exclude each other", "keep mirrors", "conflicting-fields");
  }
  if (route.mirror !== undefined) yield* destinationRules(route.mirror, [...path, "mirror"]);
  yield* each(route.mirrors, [...path, "mirrors"], function* (mirror, at) {
    yield* destinationRules(mirror.destination, [...at, "destination"]);
    yield* percentRules(mirror.percentage?.value, [...at, "percentage", "value"]);
  });
  if (route.mirrorPercent !== undefined) {
    yield* percentRules(route.mirrorPercent, [...path, "mirrorPercent"]);
    yield warning([...path, "mirrorPercent"], "is deprecated", "use mirrorPercentage");
  }
  yield* percentRules(route.mirrorPercentage?.value, [...path, "mirrorPercentage", "value"]);
}
