import { describeApiServer } from "./kubernetes-suite.ts";
import { kubernetesVersion } from "./server-binaries.ts";

describeApiServer(kubernetesVersion);
