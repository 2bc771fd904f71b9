/** What is said of sessions of other programs, and of one that is gone on with. */

import { known } from "./known";

export const COMING_OVER: readonly string[] = [
  known("Continued from “{title}”, a session of {program}. What was said there follows. Its file stays as it is: {file}"),
  known("This turn was not finished when the session came over. What was done by then is kept."),
  known("This session is not in the list any more. Open the list again"),
  known("The session “{title}” cannot be read: {why}"),
  known("its file is damaged, or is being written just now. Try again in a moment"),
  known("its file is damaged, or of no program whose sessions Ullage reads"),
  known("it is not in its file any more"),
  known("its file is gone"),
  known("its file has {size} bytes, and no more than {most} are read"),
  known("nothing is said in it"),
];
