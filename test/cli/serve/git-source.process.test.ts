import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCompileFunction } from "../../../lib/cli/serve/compile-function.ts";
import { noObserver } from "../../../lib/compile/telemetry/observer.ts";
import { readSettings } from "../../../lib/settings/read-settings.ts";
import { openStore } from "../../../lib/storage/open-store.ts";
import { GitHost, githubPush } from "../../compile/webhook/repository/git-host.ts";
import { runPortolan } from "../run-portolan.ts";

let scratch = "";
let host: GitHost;
beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "portolan-git-source-"));
  host = await GitHost.start();
});
afterAll(async () => {
  await host.close();
  rmSync(scratch, { recursive: true, force: true });
});

describe("portolan serve with a repository in its settings", () => {
  it("publishes what a push brings, and the history of the store says so", async () => {
    const where = join(scratch, "store");
    const text = `
compile:
  webhook:
    repositories: {main: {host: github, repository: shop/mesh, path: mesh, api: "${host.url}"}}
    repositoryTokens: {main: ghp_secret}
    githubSecrets: {main: hub}
`;
    const { value: settings, diagnostics } = readSettings(text, "portolan.yaml");
    if (settings === undefined) throw new Error(JSON.stringify(diagnostics));
    const store = await openStore(where, {});
    const log = pino({ level: "silent" });
    const options = { store, where, settings, ownSecret: "own", log, observer: noObserver };
    const serving = await startCompileFunction(options);
    try {
      const service = "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: shop}\n";
      const sha = await host.commit({ "mesh/a.yaml": service }, "Add a");
      const { headers, body } = githubPush("hub", Date.now(), sha);
      const response = await fetch(`${serving.url}/hooks/github/main`, { method: "POST", headers, body });
      expect(await response.json()).toMatchObject({ kind: "published", commit: sha });
      const { out } = await runPortolan("history", "--store", where);
      expect(out).toContain("ada, by a push to shop/mesh");
      expect(out).toContain(`commit ${sha} by Ada: Add a`);
    } finally {
      await serving.close();
    }
  }, 120_000);

  it("says by line what is wrong with a repository, and nothing of a token", () => {
    const text = `
compile:
  webhook:
    repositories:
      main: {host: github, repository: shop/mesh, brnach: main}
      lab: {host: gitlab, repository: mesh, path: /prod}
    repositoryTokens: {main: 7}
`;
    const { value, diagnostics } = readSettings(text, "portolan.yaml");
    expect(value).toBeUndefined();
    expect(diagnostics.map(({ origin, path }) => [origin.line, path.slice(2).join(".")])).toEqual([
      [5, "repositories.main.brnach"],
      [6, "repositories.lab.repository"],
      [6, "repositories.lab.path"],
      [7, "repositoryTokens.main"],
    ]);
    expect(JSON.stringify(diagnostics)).not.toContain("7 is");
  });
});
