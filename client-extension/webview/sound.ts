/** Two short tones, made here: nothing is loaded for them. A page that nobody has clicked or typed in yet makes no sound; browsers want that. */

/** Hertz of the tones, one after the other: up where the agent waits for an answer, down where it is done. */
const TONES = { waits: [660, 880], done: [880, 660] } as const;
/** Seconds of one. */
const LENGTH = 0.14;
/** Of the loudest there is. */
const LOUDNESS = 0.12;

/** Plays it. */
export async function playSound(what: keyof typeof TONES): Promise<void> {
  const context = new AudioContext();
  try {
    await context.resume();
    const end = context.currentTime + TONES[what].length * LENGTH;
    for (const [index, tone] of TONES[what].entries()) {
      playTone(context, tone, context.currentTime + index * LENGTH);
    }
    await new Promise((resolve) => setTimeout(resolve, (end - context.currentTime + LENGTH) * 1000));
  } finally {
    await context.close();
  }
}

/** It swells and fades, since one that breaks off clicks. */
function playTone(context: AudioContext, tone: number, from: number): void {
  const source = new OscillatorNode(context, { type: "sine", frequency: tone });
  const volume = new GainNode(context, { gain: 0 });
  volume.gain.linearRampToValueAtTime(0, from);
  volume.gain.linearRampToValueAtTime(LOUDNESS, from + LENGTH / 5);
  volume.gain.linearRampToValueAtTime(0, from + LENGTH);
  source.connect(volume).connect(context.destination);
  source.start(from);
  source.stop(from + LENGTH);
}
