/** The compile process of `portolan serve`, which ends with the process that started it. */
import { runCompileProcess } from "../lib/cli/serve/compile-child.ts";

runCompileProcess();
