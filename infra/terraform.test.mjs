import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { readModule } from "./compare/module.mjs";
import { ofTemplate } from "./compare/template.mjs";
import { ofModule } from "./compare/terraform.mjs";
import { PortolanStack } from "./stack.mjs";

const folder = new URL("terraform", import.meta.url).pathname;
const bundles = ["front", "compile", "slice", "garbage"];

/** What the CDK deploys, from bundles whose content is their name. */
function deployedByCdk(props) {
  const root = mkdtempSync(join(tmpdir(), "portolan-infra-"));
  for (const name of bundles) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, "index.mjs"), name);
  }
  const code = Object.fromEntries(bundles.map((name) => [name, join(root, name)]));
  const app = new App({ analyticsReporting: false });
  const template = Template.fromStack(new PortolanStack(app, "Portolan", { code, ...props })).toJSON();
  return ofTemplate(template, (key) =>
    readFileSync(join(app.outdir, `asset.${key.replace(/\.zip$/, "")}`, "index.mjs"), "utf8"),
  );
}
describe("x", () => { it("same", async () => {
  const module = await readModule(folder);
  assert.deepEqual(ofModule(module, { bundles: "dist/lambda" }), deployedByCdk({}));
}); });
