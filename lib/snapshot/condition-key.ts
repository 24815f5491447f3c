import type { ShapeName } from "./resource-type.ts";

/** A class in `StageCondition.classes`. */
export const conditionKey = (shape: ShapeName, classId: string): string => `${shape}/${classId}`;
