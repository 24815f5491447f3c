import { registerWrite } from "./config-write.ts";
import type { Register } from "./program.ts";

/** `portolan create -f …`: fails on what exists. */
export const registerCreate: Register = (program, terminal) =>
  registerWrite(program, terminal, {
    name: "create",
    about: "create the objects of files; none may exist",
    if: "absent",
  });
