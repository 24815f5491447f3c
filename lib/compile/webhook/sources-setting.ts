/** How refusals name the setting that lists the sources of a compile function. */
export const sourcesSetting = "the sources of the compile function (SOURCES of a Worker, PORTOLAN_SOURCES elsewhere)";
