/** Words that were searched for, marked where they stand. What is folded around them is unfolded. */

const NAME = "searched";

/** Marks the words in an item until other ones are marked; none takes the marks away. */
export function markWords(item: HTMLElement | null, words: string): void {
  CSS.highlights?.delete(NAME);
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (item === null || wanted.length === 0) {
    return;
  }
  if (item instanceof HTMLDetailsElement) {
    item.open = true;
  }
  item.querySelector<HTMLButtonElement>('.tool-header[aria-expanded="false"]')?.click();
  // What was unfolded is drawn by then.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      const ranges = rangesOf(item, wanted);
      CSS.highlights?.set(NAME, new Highlight(...ranges));
      ranges[0]?.startContainer.parentElement?.scrollIntoView({ block: "center" });
    }),
  );
}

/** Where one of the words stands in the texts of an element. */
export function rangesOf(root: HTMLElement, wanted: readonly string[]): Range[] {
  const texts = document.createTreeWalker(root, window.NodeFilter.SHOW_TEXT);
  const ranges: Range[] = [];
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const text = (node.textContent ?? "").toLowerCase();
    for (const word of wanted) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  return ranges;
}
