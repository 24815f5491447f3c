import { describe, expect, it } from "vitest";
import { type NodeClaims, project } from "../../lib/snapshot/classifier.ts";
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
