/** Collects garbage as a Lambda function, by a schedule: the one function that may delete what was published. */
import pino from "pino";
import { type GarbageRun, keptPublicationsIn, runGarbageCollection } from "../lib/compile/garbage.ts";
import { readTrust } from "../lib/snapshot/head/signing-keys.ts";
import { s3FromEnvironment } from "./s3-from-environment.ts";

const { PORTOLAN_SIGNING_KEY: signer, PORTOLAN_TRUSTED_KEYS: trusted } = process.env;
const store = s3FromEnvironment();
const log = pino();
const trust = readTrust({ signer, trusted }, { signer: "PORTOLAN_SIGNING_KEY", trusted: "PORTOLAN_TRUSTED_KEYS" });
const keepPublications = keptPublicationsIn("PORTOLAN_GC_KEEP", process.env.PORTOLAN_GC_KEEP);

/** @throws what keeps it from its work, so that the invocation counts as failed */
export const handler = (): Promise<GarbageRun> =>
  runGarbageCollection({ store, keepPublications, trust, log, now: Date.now });
