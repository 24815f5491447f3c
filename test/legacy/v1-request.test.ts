import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseV1Request } from "../../lib/legacy/v1-request.ts";

const node = "sidecar~10.1.1.0~v0.default~default.svc.cluster.local";

describe("parseV1Request", () => {
  it.each([
    { path: "/v1/registration", kind: "registrations" },
    { path: "/v1/registration/", kind: "registrations" },
    { path: "/v1/registration/a|http", kind: "hosts" },
    { path: "/v1/registration/a%7Chttp?x=1", kind: "hosts" },
    { path: `/v1/clusters/c/${node}`, kind: "clusters" },
    { path: `/v1/listeners/c/${node}/`, kind: "listeners" },
    { path: `/v1/routes/80/c/${node}`, kind: "routes" },
    { path: `/v1/az/c/${node}`, kind: "zone" },
    { path: "/cache_stats", kind: "statistics" },
  ])("reads $path as $kind", ({ path, kind }) => {
    expect(parseV1Request({ method: "GET", path }).question?.kind).toBe(kind);
  });

  it.each([
    { method: "GET", path: "/", status: 404 },
    { method: "GET", path: "/v1", status: 404 },
    { method: "GET", path: "/v1/clusters/c", status: 404 },
    { method: "GET", path: `/v1/clusters/c/${node}/x`, status: 404 },
    { method: "GET", path: "/v1/routes/80/c", status: 404 },
    { method: "POST", path: "/v1/registration", status: 405 },
    { method: "GET", path: "/cache_stats_delete", status: 405 },
    { method: "GET", path: "/v1//registration?x=1", status: 301 },
    { method: "GET", path: "/v1/registration/%", status: 400 },
    { method: "GET", path: "/v1/registration/%c3%28", status: 400 },
    { method: "GET", path: "/v1/az/c/router", status: 404 },
    { method: "GET", path: "/v1/registration", accept: "text/html", status: 406 },
  ])("answers $method $path with $status", ({ status, ...request }) => {
    expect(parseV1Request(request).answer?.status).toBe(status);
  });

  it.each(["*/*", "application/json", "text/html, application/json;q=0.5", "application/*"])(
    "takes Accept: %s",
    (accept) => {
      expect(parseV1Request({ method: "GET", path: "/v1/registration", accept }).question).toBeDefined();
    },
  );

  it("has an answer or a question for whatever is sent", () => {
    const part = fc.oneof(fc.string(), fc.constantFrom("v1", "clusters", "routes", "registration", "%zz", "..", node));
    fc.assert(
      fc.property(fc.array(part), fc.string(), (parts, method) => {
        const read = parseV1Request({ method, path: `/${parts.join("/")}` });
        expect([read.answer, read.question].filter((each) => each !== undefined)).toHaveLength(1);
      }),
    );
  });
});
