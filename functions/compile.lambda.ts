/** The compile function as a Lambda function: signed requests to its URL, a queue and a schedule make it compile. */
import { handle, type LambdaContext, type LambdaEvent } from "hono/aws-lambda";
import { createRecompiler } from "../lib/compile/recompile.ts";
import { webhookApp } from "../lib/compile/webhook/app.ts";
import { coalesce } from "../lib/compile/webhook/coalesce.ts";
import { readWebhookSecrets } from "../lib/compile/webhook/webhook-secrets.ts";
import { worldFromSettings } from "../lib/compile/world-settings.ts";
import { readTrust } from "../lib/snapshot/head/signing-keys.ts";
import { s3FromEnvironment } from "./s3-from-environment.ts";

const { PORTOLAN_SOURCES = "main" } = process.env;
const secrets = readWebhookSecrets(
  {
    WEBHOOK_SECRET: process.env.PORTOLAN_WEBHOOK_SECRET,
    SOURCE_SECRETS: process.env.PORTOLAN_SOURCE_SECRETS,
    GITHUB_SECRETS: process.env.PORTOLAN_GITHUB_SECRETS,
    GITLAB_SECRETS: process.env.PORTOLAN_GITLAB_SECRETS,
  },
  "PORTOLAN_",
);
const world = worldFromSettings(
  {
    BINARY_FORMS: process.env.PORTOLAN_BINARY_FORMS,
    CERTIFICATES: process.env.PORTOLAN_CERTIFICATES,
    LEGACY_API: process.env.PORTOLAN_LEGACY_API,
    LEGACY_RELEASE: process.env.PORTOLAN_LEGACY_RELEASE,
  },
  "PORTOLAN_",
);
const publisher = readTrust(
  { signer: process.env.PORTOLAN_SIGNING_KEY, trusted: process.env.PORTOLAN_TRUSTED_KEYS },
  { signer: "PORTOLAN_SIGNING_KEY", trusted: "PORTOLAN_TRUSTED_KEYS" },
);
const store = s3FromEnvironment();
const sources = PORTOLAN_SOURCES.split(",");
const recompile = coalesce(createRecompiler({ store, sources, world, publisher }));
const onError = (cause: unknown) => console.error(String(cause));
const answerRequest = handle(webhookApp({ store, recompile, sources, secrets, onError }));

/** What a schedule or a queue sends; it only says that there may be something new. */
interface Notice {
  readonly source?: string;
  readonly Records?: readonly unknown[];
}

export async function handler(event: LambdaEvent | Notice, context?: LambdaContext): Promise<unknown> {
  return "requestContext" in event ? answerRequest(event, context) : recompile();
}
