import { registerWrite } from "./config-write.ts";
import type { Register } from "./program.ts";

/** `portolan apply -f …`: creates what is not there, and replaces what is. */
export const registerApply: Register = (program, terminal) =>
  registerWrite(program, terminal, { name: "apply", about: "create or replace the objects of files" });
