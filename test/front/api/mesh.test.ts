import { beforeAll, describe, expect, it } from "vitest";
import { createFileCompiler } from "../../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../../lib/compile/world/world-of.ts";
import { columnsOfMesh, edgesOfMesh } from "../../../lib/console/picture/columns.ts";
import { layOut } from "../../../lib/console/picture/layout.ts";
import { described } from "../../../lib/front/api/schema/described.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { syntheticMesh } from "../../bench/synthetic-mesh.ts";
import { type TestFront, testFront } from "../fixtures.ts";

let test: TestFront;

const get = async (name: "mesh" | "meshServices", path: string) => {
  const response = await test.request(path);
  const text = await response.text();
  expect([path, response.status]).toEqual([path, 200]);
  expect(described[name].answer.strict().safeParse(JSON.parse(text)).error?.issues ?? []).toEqual([]);
  return { answer: JSON.parse(text), bytes: text.length };
};

/** Sidecars of one team see two namespaces; everybody else sees all. */
const scope = `
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: default, namespace: ns-0 }
spec:
  egress: [{ hosts: ["./*", "ns-1/*"] }]
`;

beforeAll(async () => {
  test = testFront();
  const { text } = syntheticMesh(300);
  const compiler = createFileCompiler(defaultWorldOptions);
  const files = [
    { file: "mesh.json.yaml", text },
    {
      file: "scope.yaml",
      text: scope.replaceAll("ns-0", firstNamespace(text)).replaceAll("ns-1", secondNamespace(text)),
    },
  ];
  await test.publish(compiler(files, []).value);
});

const namespaces = (text: string) =>
  [...new Set([...text.matchAll(/"namespace":"([^"]+)"/g)].map(([, name = ""]) => name))]
    .filter((name) => name !== "istio-system")
    .sort();
const firstNamespace = (text: string) => namespaces(text)[0] ?? "";
const secondNamespace = (text: string) => namespaces(text)[1] ?? "";

describe("the picture of a mesh of 300 services", () => {
  it("is a few hundred things at most, however many services there are", async () => {
    const { answer, bytes } = await get("mesh", "/api/mesh");
    expect(answer.services).toBeGreaterThanOrEqual(300);
    expect(answer.isPartial).toBe(false);
    expect(bytes).toBeLessThan(limits.apiBytes / 20);
    const picture = layOut(columnsOfMesh(answer, nobody), edgesOfMesh(answer, nobody));
    expect(picture.items.length).toBeLessThan(60);
    expect(picture.lines.length).toBeLessThan(200);
    expect(overlaps(picture.items)).toBe(0);
  });

  it("says of whom the view is narrowed", async () => {
    const { answer } = await get("mesh", "/api/mesh");
    const scoped = answer.callers.filter(({ seesAll }: { seesAll: boolean }) => !seesAll);
    expect(
      scoped.map(({ sees }: { sees: readonly { services: number }[] }) => sees.map(({ services }) => services)),
    ).toContainEqual([50, 50]);
    const [caller] = scoped;
    const edges = edgesOfMesh(answer, { ...nobody, caller: `${caller.kind}/${caller.namespace}` });
    expect(edges.length).toBe(caller.sees.length);
  });

  it("opens one namespace with its services, page by page, and the weights of routes", async () => {
    const { answer: mesh } = await get("mesh", "/api/mesh");
    const gateway = mesh.callers.find(({ kind }: { kind: string }) => kind === "router");
    const { answer } = await get(
      "meshServices",
      `/api/mesh/services?class=${gateway.classes[0]}&namespace=${gateway.sees.find(({ services }: { services: number }) => services === 50).namespace}&limit=20`,
    );
    expect([answer.total, answer.services.length]).toEqual([50, 20]);
    const parts = answer.services.flatMap(
      ({ routes }: { routes: readonly { to: readonly { weightPercent: number }[] }[] }) =>
        routes.flatMap(({ to }) => to),
    );
    expect(parts.length).toBeGreaterThan(0);
    for (const { to } of answer.services.flatMap(({ routes }: { routes: readonly object[] }) => routes))
      expect(
        to.reduce((sum: number, { weightPercent }: { weightPercent: number }) => sum + weightPercent, 0),
      ).toBeCloseTo(100, 0);
  });
});

const nobody = { caller: "", namespace: undefined, part: "" };

/** Pairs of things that lie on one another. */
function overlaps(items: ReturnType<typeof layOut>["items"]): number {
  return items.filter((a, i) => items.some((b, j) => j > i && a.x === b.x && Math.abs(a.y - b.y) < 44)).length;
}
