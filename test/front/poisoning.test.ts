import { describe, expect, it } from "vitest";
import { type NodeClaims, project } from "../../lib/base/classifier.ts";
import { ackSourceOf, memoryCdsAcks } from "../../lib/front/heads/cds-acks.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "./fixtures.ts";

const classifier = { attributes: ["namespace", "type"], labels: { "*": { keys: ["app"] } }, classes: {}, defaults: {} };
const claims = (app: string): NodeClaims => ({ ...nodeOf("web-1", { app }), locality: "" });
const classes = Object.fromEntries(
  ["guarded", "open"].map((app) => [project(classifier, claims(app)) ?? "", app] as const),
);
const world = worldOf(
  { guarded: { listeners: { l: "DENY and STRICT" } }, open: { listeners: { l: "no policy" } } },
  { classifier: { ...classifier, classes }, nodes: [] },
);

/** As Envoy writes it: the list of its extensions behind what is said of the node. */
const asEnvoy = (app: string) => ({
  ...claims(app),
  locality: { region: "r" },
  extensions: Array.from({ length: 500 }, (_, at) => ({ name: `envoy.filters.${at}`, type_urls: ["envoy.Filter"] })),
});

describe("the class of a node", () => {
  it("is never decided by what somebody else says under its id and cluster", async () => {
    const { poll, publish } = testFront();
    await publish(world);
    const ask = async (app: string, version?: string) => {
      const response = await poll("listeners", pollBody("listeners", asEnvoy(app), { ...(version && { version }) }));
      if (response.status === 304) return { version, content: "unchanged" };
      const answer: { readonly version_info: string; readonly resources: readonly { readonly content: string }[] } =
        JSON.parse(await response.text());
      return { version: answer.version_info, content: answer.resources[0]?.content };
    };
    const first = await ask("guarded");
    expect(first.content).toBe("DENY and STRICT");
    // A stranger: the victim's id and cluster, other labels.
    expect((await ask("open")).content).toBe("no policy");
    expect(await ask("guarded", first.version)).toEqual({ version: first.version, content: "unchanged" });
    expect((await ask("guarded", "of another time")).content).toBe("DENY and STRICT");
  });
});

describe("what is remembered of a pod", () => {
  const podOf = (pod: string) =>
    ({ kind: "node", subject: "system:serviceaccount:default:web", namespace: "default", pod }) as const;
  const { id: nodeId } = nodeOf("victim");

  async function pods() {
    const cdsAcks = memoryCdsAcks(Date.now);
    const refused: string[] = [];
    const test = testFront({
      cdsAcks,
      onRefusal: (refusal) => refused.push(refusal.nodeId),
      authentication: {
        description: "",
        identify: async ({ header }) => ({ kind: "identified", caller: podOf(header("x-pod") ?? "") }),
      },
    });
    await test.publish(worldOf({ victim: { clusters: { a: "1" } } }));
    const ask = async (pod: string, path: string, more: object = {}) => {
      const body = JSON.stringify({ node: nodeOf("victim"), ...more });
      return (await test.request(path, { method: "POST", body, headers: { "x-pod": pod } })).status;
    };
    return { cdsAcks, refused, ask, front: test.front };
  }

  it.each([
    ["a poll", "/v3/discovery:clusters", { version_info: "v2" }],
    ["a delta request", "/v3/delta:clusters", { response_nonce: "v2", initial_resource_versions: { a: "1" } }],
  ])("is not what another one of its account says in %s", async (_what, path, more) => {
    const { cdsAcks, ask } = await pods();
    expect(await ask("other", path, more)).toBe(403);
    expect(cdsAcks.versionOf(ackSourceOf(nodeId, podOf("other")))).toBeUndefined();
    expect(await ask("victim", path, more)).toBe(200);
    expect(cdsAcks.versionOf(ackSourceOf(nodeId, podOf("victim")))).toBe("v2");
  });

  it("is no refusal that another one makes up, nor one that it hides", async () => {
    const { refused, ask, front } = await pods();
    const path = "/v3/discovery:clusters";
    await ask("victim", path);
    for (let i = 0; i < 3; i += 1) expect(await ask("other", path)).toBe(403);
    expect(refused).toEqual([]);
    for (let i = 0; i < 3; i += 1) await ask("victim", path);
    expect(await ask("other", path, { version_info: "v2" })).toBe(403);
    expect(refused).toEqual([nodeId]);
    expect(await front.explainRefusals()).toHaveLength(1);
  });
});
