import { testEdge } from "./edge-suite.ts";
import { workerdEdge } from "./edges.ts";

testEdge("workerd and R2", () => workerdEdge());
