// Bundles the functions into dist/lambda, from where the Terraform module in infra/terraform takes them.

import { buildFunctions } from "./build.mjs";

await buildFunctions(new URL("../dist/lambda", import.meta.url).pathname);
