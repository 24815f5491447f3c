import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GitHost, githubPush, gitlabPush, type SignedPush } from "../compile/webhook/repository/git-host.ts";
import { type Edge, lambdaEdge, workerdEdge } from "../e2e/edges.ts";

const hub = "hub";
const lab = `whsec_${Buffer.from("a key of GitLab's").toString("base64")}`;
const service = (name: string) =>
  `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}, namespace: shop}\nspec: {ports: [{name: http, port: 80}]}\n`;

/** The compile function as each platform runs it, with two sources that follow one repository, over each host's API. */
describe.each([
  { name: "workerd", open: workerdEdge, sources: "SOURCES" },
  { name: "Lambda", open: lambdaEdge, sources: "PORTOLAN_SOURCES" },
])("a push to a repository, on $name", ({ open, sources }) => {
  let host: GitHost;
  let edge: Edge;

  beforeAll(async () => {
    host = await GitHost.start();
    edge = await open({
      [sources]: "main,lab",
      PORTOLAN_GITHUB_SECRETS: JSON.stringify({ main: hub }),
      PORTOLAN_GITLAB_SECRETS: JSON.stringify({ lab }),
      PORTOLAN_REPOSITORIES: JSON.stringify({
        main: { host: "github", repository: "shop/mesh", path: "mesh", api: host.url },
        lab: { host: "gitlab", repository: "shop/mesh", path: "lab", api: `${host.url}/api/v4` },
      }),
      PORTOLAN_REPOSITORY_TOKENS: JSON.stringify({ main: "ghp_secret", lab: "glpat-secret" }),
    });
  }, 120_000);
  afterAll(async () => {
    await edge?.close();
    await host?.close();
  });

  const deliver = async (path: string, { headers, body }: SignedPush) => {
    const response = await edge.post(path, body, headers);
    return { status: response.status, ...JSON.parse(await response.text()) };
  };

  it("fills the source of each host's webhook and publishes it", async () => {
    const sha = await host.commit({ "mesh/a.yaml": service("a"), "lab/b.yaml": service("b"), "c.yaml": service("c") });
    const github = await deliver("/hooks/github/main", githubPush(hub, Date.now(), sha));
    expect(github).toMatchObject({ status: 200, kind: "published", commit: sha });
    const gitlab = await deliver("/hooks/gitlab/lab", gitlabPush(lab, Date.now(), sha));
    expect(gitlab).toMatchObject({ status: 200, kind: "published", commit: sha });
    expect(host.archiveAsked.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  }, 60_000);

  it("says why another branch is ignored, and what is wrong with a repository that cannot be fetched", async () => {
    const sha = await host.commit({ "mesh/a.yaml": service("a2") });
    const branch = githubPush(hub, Date.now(), sha, { ref: "refs/heads/feature" });
    expect(await deliver("/hooks/github/main", branch)).toMatchObject({ status: 200, kind: "ignored" });
    host.instead = (url, response) => {
      if (!url.includes("legacy")) return false;
      response.writeHead(200).end("<html>Sign in</html>");
      return true;
    };
    const push = githubPush(hub, Date.now(), sha);
    expect(await deliver("/hooks/github/main", push)).toMatchObject({
      status: 502,
      detail: expect.stringContaining("damaged or cut off"),
    });
    host.instead = () => false;
    expect(await deliver("/hooks/github/main", push)).toMatchObject({ status: 200, kind: "published", commit: sha });
  }, 60_000);
});
