import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { legacyClassKey } from "../../lib/legacy/compiled-legacy.ts";
import { type NodeId, parseNodeId } from "../../lib/legacy/node-id.ts";
import { parseV1Request, type V1Request } from "../../lib/legacy/v1-request.ts";
import { compileLegacy } from "../../lib/v1/compile-legacy.ts";
import { defaultLegacyMeshConfig, type LegacyWorld } from "../../lib/v1/legacy-world.ts";
import { casesOf } from "../conformance/suites.ts";
import { readV1Case, v1Urls } from "../conformance/v1-cases.ts";
import { readV1World } from "../conformance/v1-world.ts";
import { propertyRuns } from "../soak-options.ts";
import { answer } from "./oracle/answer.ts";
import { wholeAnswer } from "./whole-answer.ts";
import { suite as carried } from "./worlds.ts";

const families = ["sds", "cds", "rds", "lds", "compat-0.7"];

const cases = casesOf("v1").flatMap((found) => {
  const spec = readV1Case(found.path);
  const { request } = spec;
  if (!families.includes(spec.family) || request === undefined || spec.registryFaults !== undefined) return [];
  return [{ name: found.name, spec, request, ...v1Urls(found) }];
});

/** The body from compiled documents, whatever the question is. */
async function compiledBody(world: LegacyWorld, request: V1Request, domains?: readonly string[]) {
  const { question, answer: refused } = parseV1Request(request);
  return question === undefined ? refused : wholeAnswer(compileLegacy(world, domains), question);
}

describe("compileLegacy", () => {
  it.each(cases)("gives the bytes that the world itself gives: $name", async ({ suite, folder, spec, request }) => {
    const world = readV1World(spec, suite, folder).value;
    const node = parseNodeId(request.path.split("/").at(-1) ?? "");
    const domains = "error" in node ? [] : [node.domain];
    expect(await compiledBody(world, request, domains)).toEqual(answer(world, request));
  });

  it("answers names that objects have by themselves like any other unknown name", async () => {
    const world = worldOf({});
    for (const path of ["/v1/registration/constructor", "/v1/registration/__proto__|toString"]) {
      expect(await compiledBody(world, { method: "GET", path })).toEqual(answer(world, { method: "GET", path }));
    }
  });

  it("refuses nodes of a domain that nobody has, so that they keep what they have", async () => {
    const refused = await compiledBody(worldOf({}), {
      method: "GET",
      path: "/v1/clusters/c/sidecar~10.1.1.0~v0.default~elsewhere.example.com",
    });
    expect(refused).toMatchObject({
      status: 503,
      body: "CDS no answers were made for sidecars of elsewhere.example.com",
    });
  });
});

/** The shop with everything that writes something of the node into an answer. */
function worldOf(mesh: Partial<LegacyWorld["mesh"]>): LegacyWorld {
  const inputs = { variant: "0.8", registry: "shop", meshBase: "plain" };
  const base = readV1World(inputs, carried, carried).value;
  return { ...base, mesh: { ...defaultLegacyMeshConfig, ...base.mesh, ...mesh } };
}

describe("two nodes of one class", () => {
  const withMixer = worldOf({ mixerCheckServer: "mixer:9091", authPolicy: "MUTUAL_TLS" });
  const [first] = withMixer.instances;

  it("differ in their own address and name only", async () => {
    const byte = fc.integer({ min: 1, max: 254 });
    const address = fc.tuple(byte, byte, byte).map((parts) => `10.77.${parts.slice(0, 2).join(".")}`);
    await fc.assert(
      fc.asyncProperty(address, address, fc.string(), fc.string(), async (one, other, oneId, otherId) => {
        fc.pre(one !== other && first !== undefined);
        if (first === undefined) return;
        const instances = [one, other].map((ip) => ({ ...first, address: ip }));
        const world = { ...withMixer, instances: [...withMixer.instances, ...instances] };
        const compiled = compileLegacy(world, ["shop.svc.cluster.local"]);
        const sites = [one, other].map((ip) => compiled.index.sites[ip]?.id ?? "");
        expect(sites[0]).toBe(sites[1]);
        const nodes = [nodeAt(one, oneId), nodeAt(other, otherId)];
        expect(new Set(nodes.map((node) => legacyClassKey(node, sites[0] ?? ""))).size).toBe(1);
        for (const kind of ["clusters", "listeners"] as const) {
          const answers = await Promise.all(nodes.map((node) => wholeAnswer(compiled, { kind, node })));
          const anonymous = answers.map(({ body }, index) => withoutNode(body, nodes[index]));
          expect(anonymous[0]).toBe(anonymous[1]);
          const direct = nodes.map((node) => {
            const path = `/v1/${kind}/c/${encodeURIComponent(`sidecar~${node.ip}~${node.id}~${node.domain}`)}`;
            return answer(world, { method: "GET", path }).body;
          });
          if (nodes.every((node) => !node.id.includes("~"))) {
            expect(answers.map(({ body }) => body)).toEqual(direct);
          }
        }
      }),
      { numRuns: propertyRuns(8) },
    );
  });
});

function nodeAt(ip: string, id: string): NodeId {
  const node = parseNodeId(`sidecar~${ip}~x~shop.svc.cluster.local`);
  if ("error" in node) throw new Error(node.error);
  return { ...node, id: `pod-${id}` };
}

/** A body with everything of the node blanked out. */
function withoutNode(body: string, node: NodeId | undefined): string {
  const listeners: unknown = JSON.parse(body);
  const { ip = "", ipBytes = "", id = "" } = node ?? {};
  return JSON.stringify(listeners, (_, value: unknown) =>
    typeof value === "string"
      ? value.replaceAll(`kubernetes://${id}`, "ID").replaceAll(ip, "IP").replaceAll(ipBytes, "BYTES")
      : value,
  );
}
