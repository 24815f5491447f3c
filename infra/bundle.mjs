// Bundles the functions into dist/lambda, for the Terraform module in infra/terraform.

import { buildFunctions } from "./build.mjs";

await buildFunctions(new URL("../dist/lambda", import.meta.url).pathname);
