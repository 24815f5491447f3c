// Synthesises the stack into dist/cdk.out. `npx aws-cdk@2.1148 deploy --app dist/cdk.out` deploys it; docs/deploy-aws.md has the steps.

import { App } from "aws-cdk-lib";
import { buildFunctions } from "./build.mjs";
import { PortolanStack } from "./stack.mjs";

const outdir = new URL("../dist/cdk.out", import.meta.url).pathname;
const code = await buildFunctions(new URL("../dist/lambda", import.meta.url).pathname);
const settings = ["BINARY_FORMS", "CERTIFICATES", "LEGACY_API", "LEGACY_RELEASE"].map((name) => `PORTOLAN_${name}`);
const compileSettings = Object.fromEntries(
  settings.map((name) => [name, process.env[name] ?? ""]).filter(([, text]) => text !== ""),
);
const app = new App({ outdir, analyticsReporting: false });
new PortolanStack(app, "Portolan", { code, compileSettings });
app.synth();
