/** Which question a key answers: one that the user sees. */

/** The question that has the focus, else the only one whose buttons are in sight; undefined where there is none, or more than one. */
export function approvalInSight(timeline: HTMLElement): HTMLElement | undefined {
  const asked = [...timeline.querySelectorAll<HTMLElement>(".approval:not(.answered)")];
  const focused = asked.find((approval) => approval.closest(".item")?.contains(document.activeElement) === true);
  if (focused !== undefined) {
    return focused;
  }
  const { top, bottom } = timeline.getBoundingClientRect();
  const seen = asked.filter((approval) => {
    const row = approval.querySelector(".button-row")?.getBoundingClientRect();
    return row !== undefined && row.top >= top && row.bottom <= bottom;
  });
  return seen.length === 1 ? seen[0] : undefined;
}
