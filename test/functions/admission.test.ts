import { afterEach, describe, expect, it, vi } from "vitest";
import compileWorker, { type Env } from "../../functions/compile.worker.ts";
import { fieldsOf } from "../../lib/base/untyped.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const object = {
  apiVersion: "networking.istio.io/v1",
  kind: "VirtualService",
  metadata: { name: "x", namespace: "shop" },
  spec: { hosts: ["a.com"], http: [{ redirect: { uri: "/" } }], unknown: 1 },
};
const review = {
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: { uid: "1", operation: "CREATE", namespace: "shop", object },
};

/** What a compile Worker answers to a review, without a world. */
async function answered(env: Partial<Env>, path: string) {
  vi.spyOn(console, "log").mockImplementation(() => {});
  const request = new Request(`https://compile.example${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(review),
  });
  const all = { SNAPSHOTS: Object.create(null), ADMISSION_WORLD: "off", ...env };
  const context = { waitUntil() {}, passThroughOnException() {}, props: {} };
  const response = await compileWorker.fetch(request, all, context);
  return { code: response.status, ...fieldsOf(fieldsOf(await response.json()).response) };
}

describe("admission in the compile Worker", () => {
  it("is not there without a token", async () => {
    expect(await answered({}, "/admission/validate")).toEqual({ code: 404 });
  });

  it("answers with one, in the path", async () => {
    const env = { PORTOLAN_ADMISSION_TOKEN: "secret" };
    expect(await answered(env, "/admission/validate")).toEqual({ code: 401 });
    expect(await answered(env, "/admission/validate/secret")).toMatchObject({ code: 200, uid: "1", allowed: false });
  });

  it("injects where values are set", async () => {
    const env = { PORTOLAN_ADMISSION_TOKEN: "secret", ADMISSION_INJECTION: "{}" };
    expect(await answered(env, "/admission/inject/secret")).toMatchObject({ code: 200, allowed: true });
    expect(await answered({ PORTOLAN_ADMISSION_TOKEN: "secret" }, "/admission/inject/secret")).toEqual({ code: 404 });
  });
});
