import { registerWrite } from "./config-write.ts";
import type { Register } from "./program.ts";

/** `portolan replace -f …`: fails on what does not exist. */
export const registerReplace: Register = (program, terminal) =>
  registerWrite(program, terminal, {
    name: "replace",
    about: "replace objects by those of files; all must exist",
    if: "present",
  });
