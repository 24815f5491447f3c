#!/usr/bin/env node
import { processTerminal } from "../lib/cli/terminal.ts";
import { runCli } from "../lib/cli/program.ts";

process.exitCode = await runCli(process.argv, processTerminal());
