import { describeApiServer } from "./kubernetes-suite.ts";
import { kubernetesVersions } from "./server-binaries.ts";

for (const version of kubernetesVersions) describeApiServer(version);
