/** Calls of tools by their titles, and files and media that they could not use. */

import { known } from "./known";

export const TOOLS: readonly string[] = [
  known("entry {numbers}"),
  known("Compact the conversation"),
  known("Problems in {path}"),
  known("Problems"),
  known("List {path}"),
  known("{media} (scaled down from {width} × {height}), {tokens} tokens"),
  known("{media}, {tokens} tokens"),
  known("{media}, about {tokens} tokens"),
  known("Note in memory: {block}"),
  known("Carry out this plan?"),
  known("Propose a plan"),
  known("Plan: {plan}"),
  known("Read {path}"),
  known('Recall "{query}"'),
  known("Recall result {id}"),
  known("Recall entries {first} to {last}"),
  known("Recall"),
  known('Search "{pattern}"{place}'),
  known(" in {place}"),
  known("Update the task list"),
  known("Write {path}"),
];
