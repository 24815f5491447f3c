import { start } from "./start.mjs";

await start("server.node.ts");
