import { settingText } from "../../front/auth/setting-file.ts";
import { createNodeResolver } from "../../resolve/node-resolver.ts";
import type { Resolver } from "../../resolve/resolver.ts";
import { awsKms } from "../../secrets/aws-kms.ts";
import type { Trust } from "../../snapshot/head/signatures.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/** The resolver of a command, as the environment says it. @throws PortolanError for a setting that says what it cannot */
export const resolverOf = (store: ObjectStore, trust: Trust): Resolver =>
  createNodeResolver(
    store,
    { ...process.env, PORTOLAN_RESOLVER_CA_BUNDLE: settingText(process.env.PORTOLAN_RESOLVER_CA_BUNDLE) },
    trust,
    awsKms({ onWarning: () => {} }),
  );
