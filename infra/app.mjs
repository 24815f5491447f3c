// Synthesises the stack into dist/cdk.out. `npx aws-cdk@2.1148 deploy --app dist/cdk.out` deploys it; docs/deploy-aws.md has the steps.

import { App } from "aws-cdk-lib";
import { choiceIn, sourceNamesIn } from "../lib/config/setting-values.ts";
import { buildFunctions } from "./build.mjs";
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
    ...settings([
      ...["BINARY_FORMS", "CERTIFICATES", "LEGACY_API", "LEGACY_RELEASE", "POLL_DELAY_MS"],
      ...["SECURITY_FAILURE", "TRUSTED_KEYS", "WEBHOOK_AUDIENCE"],
      ...["DEBOUNCE_MS", "DEBOUNCE_MAX_MS", "LEASE_SECONDS", "COMPILE_SECONDS", "COMPILE_SLICES", "GC_KEEP"],
      "REPOSITORIES",
    ]),
    // Where spans go, by OpenTelemetry's own names.
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("OTEL_"))),
  },
  garbage: choiceIn("PORTOLAN_GC", process.env.PORTOLAN_GC, ["true", "false"]) !== "false",
  frontSettings: settings(["AUTHENTICATION", "CONFIRMATIONS", "STORE_COPY", "TRUSTED_KEYS", "WANTED"]),
  secretsWriters: (process.env.PORTOLAN_SECRETS_WRITERS ?? "").split(/[\s,]+/).filter((arn) => arn !== ""),
  // What must not stand in a template is named by the ARN of its secret.
  secretArns: settings(
    [
      ...["AUTHENTICATION", "SECRETS_KEY", "SIGNING_KEY", "SOURCE_SECRETS", "GITHUB_SECRETS", "GITLAB_SECRETS"],
      "REPOSITORY_TOKENS",
    ],
    "_ARN",
  ),
});
app.synth();
