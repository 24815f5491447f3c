// Synthesises the stack into dist/cdk.out. `npx aws-cdk@2.1148 deploy --app dist/cdk.out` deploys it; docs/deploy-aws.md has the steps.

import { App } from "aws-cdk-lib";
import { choiceIn, sourceNamesIn } from "../lib/config/setting-values.ts";
import { buildFunctions } from "./build.mjs";
import { compileSettings, frontSettings, secretSettings } from "./settings.mjs";
import { PortolanStack } from "./stack.mjs";

const outdir = new URL("../dist/cdk.out", import.meta.url).pathname;
const code = await buildFunctions(new URL("../dist/lambda", import.meta.url).pathname);

/** Settings that the environment holds, by their names. @param {readonly string[]} names @param {string} suffix */
const settings = (names, suffix = "") =>
  Object.fromEntries(
    names
      .map((name) => /** @type {const} */ ([`PORTOLAN_${name}`, process.env[`PORTOLAN_${name}${suffix}`] ?? ""]))
      .filter(([, text]) => text !== ""),
  );

const { PORTOLAN_SOURCES, PORTOLAN_RESERVED_CONCURRENCY } = process.env;
const reserved = choiceIn("PORTOLAN_RESERVED_CONCURRENCY", PORTOLAN_RESERVED_CONCURRENCY, ["on", "off"]);

const app = new App({ outdir, analyticsReporting: false });
new PortolanStack(app, "Portolan", {
  code,
  sources: sourceNamesIn("PORTOLAN_SOURCES", PORTOLAN_SOURCES, "main").join(","),
  reservedConcurrency: reserved !== "off",
  compileSettings: {
    ...settings(compileSettings),
    // Where spans go, by OpenTelemetry's own names.
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("OTEL_"))),
  },
  garbage: choiceIn("PORTOLAN_GC", process.env.PORTOLAN_GC, ["true", "false"]) !== "false",
  frontSettings: settings(frontSettings),
  secretsWriters: (process.env.PORTOLAN_SECRETS_WRITERS ?? "").split(/[\s,]+/).filter((arn) => arn !== ""),
  caKeyArn: process.env.PORTOLAN_CA_KEY_ARN || undefined,
  secretArns: settings(secretSettings, "_ARN"),
});
app.synth();
