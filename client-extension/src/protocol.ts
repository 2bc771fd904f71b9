/**
 * The messages of PROTOCOL.md, once for this side. Mirrors `server/ullage/lsp/protocol.py`.
 *
 * Types and names only, no VS Code and no DOM: the extension host, the panel and the tests share it.
 * Sizes are tokens, times Unix seconds, money US dollars. Absent and `null` mean the same.
 */

export const PROTOCOL_VERSION = 1;

type Optional<T> = T | null;

export type SessionState = "idle" | "running" | "compacting";
export type ToolKind = "read" | "edit" | "search" | "execute" | "think" | "fetch" | "other";
export type ToolStatus = "pending" | "awaiting_permission" | "awaiting_answer" | "running" | "completed" | "failed" | "cancelled";
export type CompactionStatus = "in_progress" | "completed" | "failed" | "cancelled" | "undone";
export type CompactionTrigger = "manual" | "threshold" | "idle" | "reactive" | "tool" | "upkeep" | "economy";
export type CompactionWay = "moves" | "api" | "model" | "program" | "note";

/** An image or a PDF that the model was shown. */
export interface ShownMedia {
  /** Of the file, as it was attached or read; empty where no file was read for it. */
  name: string;
  /** What it is, and how many tokens it takes. */
  words: string;
  /** Where the bytes lie that the model was shown, relative to the first workspace folder. */
  path: string;
}

export interface UserItem {
  kind: "user";
  id: string;
  at: number;
  text: string;
  attachments: string[];
  /** Waits for its turn. */
  queued: boolean;
  /** Those of the attachments that are images or PDFs. */
  media?: Optional<ShownMedia[]>;
  /** It joined the turn that ran, or waits for that: before all that wait for a turn of their own. */
  steering?: Optional<boolean>;
  /** What the turn cost that began with it; absent until it has ended. */
  turnCost?: Optional<TurnCost>;
}

/** What a turn took of the model. Tokens as the API reports them. */
export interface TurnCost {
  /** Calls that reported what they took, those for compactions too. */
  calls: number;
  /** Neither read from the cache nor written to it. */
  input: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
  /** Dollars; absent where no call had a price. */
  cost?: Optional<number>;
  /** Of `calls`, those without a known price: `cost` has nothing of them. */
  unpriced?: Optional<number>;
  /** Replies that were cut off: nobody knows what they cost. */
  unreported?: Optional<number>;
  /** Of `calls`, those for compactions, and what these cost, which is in `cost`, too. */
  compactions?: Optional<number>;
  compactionCost?: Optional<number>;
  /** Sub-agents that worked for it, and what these cost, which is in `cost`, too. Their calls and tokens are not counted here. */
  agents?: Optional<number>;
  agentCost?: Optional<number>;
}

export interface AssistantItem {
  kind: "assistant";
  id: string;
  at: number;
  /** Markdown. */
  text: string;
}

export interface ThinkingItem {
  kind: "thinking";
  id: string;
  at: number;
  text: string;
  /** How long it took; absent while it lasts, and where the server did not see it. */
  seconds?: Optional<number>;
}

export interface FileDiff {
  path: string;
  oldText: string;
  newText: string;
}

export interface PermissionOption {
  optionId: string;
  name: string;
  kind: "allow_once" | "allow_always" | "reject_once";
}

/** One answer that the agent offers, and what it means. */
export interface QuestionOption {
  optionId: string;
  label: string;
  description: string;
}

/** What the agent asks the user. All texts are the model's. */
export interface Question {
  /** What it is about, in a word or two. */
  header: string;
  question: string;
  options: QuestionOption[];
  /** Several options may be chosen. */
  multiSelect?: Optional<boolean>;
}

/** What the user answered to one question: the labels of what they chose, and their own words. */
export interface Answer {
  question: string;
  chosen: string[];
  text?: Optional<string>;
}

/** What the user gives to one question. With neither they leave it out. */
export interface GivenAnswer {
  optionIds?: Optional<string[]>;
  text?: Optional<string>;
}

/** `path` is absolute, `line` counts from 1. */
export interface Location {
  path: string;
  line?: Optional<number>;
}

/** A sub-agent that is or was at work for a call: tokens of its own context, and dollars. */
export interface AgentRun {
  /** Of its own log, which can be opened and read. */
  sessionId: string;
  name: string;
  used: number;
  threshold: number;
  cost?: Optional<number>;
  /** What it does now, in words; absent where it does nothing any more. */
  doing?: Optional<string>;
}

export interface ToolCallItem {
  kind: "toolCall";
  id: string;
  at: number;
  name: string;
  title: string;
  toolKind: ToolKind;
  status: ToolStatus;
  /** JSON text; not whole while it streams in. */
  input: string;
  output: string;
  diff?: Optional<FileDiff>;
  /** Path of the whole output where `output` was clipped. */
  fullOutput?: Optional<string>;
  /** Not empty while the call waits for an approval. */
  permission?: Optional<PermissionOption[]>;
  permissionId?: Optional<string>;
  permissionReason?: Optional<string>;
  /** What the model is shown with the output. */
  media?: Optional<ShownMedia[]>;
  /** Why it failed, where that is no fault of the tool. */
  failure?: Optional<"refused" | "not_found">;
  /** How long it ran, as far as the server saw it. */
  seconds?: Optional<number>;
  /** The files that it is at work in, so that an editor can follow along. */
  locations?: Optional<Location[]>;
  /** While it waits for an approval: the absolute path of the document that it is about, which the user may edit. */
  document?: Optional<string>;
  /** While it waits for an approval: what is asked, part by part. */
  asked?: Optional<Asked>;
  /** While it waits for the user's answers: what is asked, and the id of these very questions. */
  questions?: Optional<Question[]>;
  questionId?: Optional<string>;
  /** What the user answered. */
  answers?: Optional<Answer[]>;
  /** The sub-agent that is or was at work for it. */
  agent?: Optional<AgentRun>;
  /** Dollars that the call itself cost, beside the conversation. */
  cost?: Optional<number>;
  /** The id of the command that went on after it. */
  goesOn?: Optional<string>;
}

/** One part of a call, and why it is asked about or not, in words for the user. */
export interface AskedPart {
  text: string;
  standing: "harmless" | "rule" | "confined" | "asked";
  why: string;
}

/** A rule that would cover a part of the call. */
export interface RuleProposal {
  action: "command" | "edit" | "host" | "mcp" | "search";
  pattern: string;
}

/** The proposed text of a file as a document that the user may change before they accept it. Paths are absolute. */
export interface ProposedText {
  document: string;
  /** Of the file. */
  path: string;
  isNew?: Optional<boolean>;
}

/** What a call is asked about. */
export interface Asked {
  action: "edit" | "command" | "host" | "outside" | "plan" | "mcp" | "agent" | "search";
  parts: AskedPart[];
  /** Where it would happen, by the name of the workspace folder; absolute where it is outside. */
  folder?: Optional<string>;
  /** Whether that is outside of the workspace folders, as a worktree is. */
  outside?: Optional<boolean>;
  proposals?: Optional<RuleProposal[]>;
  proposed?: Optional<ProposedText>;
}

export interface RestoredFile {
  path: string;
  note: string;
  /** The model is only told its name; `note` says why. */
  notRead?: Optional<boolean>;
}

/** What the agent got again from its tools after a compaction that had taken it out of view. */
export interface FetchedAgain {
  /** In which it stands, as far as that is known; the one with the most of it first. */
  files: string[];
  tokens: number;
  /** Dollars. */
  cost?: Optional<number>;
}

/** Of so many things that were used, those that were in view. */
export interface Held {
  inView: number;
  used: number;
}

/** What some of the newest messages used of what stood before them, and how much of that a compaction leaves in view without them. */
export interface Checked {
  messages: number;
  /** They came since it was planned; else they are those that it keeps. */
  ahead: boolean;
  paths: Held;
  names: Held;
  hashes: Held;
  /** Of text that came from tools again. */
  characters: Held;
  /** Paths, names and hashes that were put into the summary for that. They count as in view. */
  added: number;
}

export interface CompactionItem {
  kind: "compaction";
  id: string;
  at: number;
  status: CompactionStatus;
  trigger: CompactionTrigger;
  way?: Optional<CompactionWay>;
  tokensBefore: number;
  tokensAfter?: Optional<number>;
  summary: string;
  restored: RestoredFile[];
  /** Tool results that became a placeholder. */
  cleared: number;
  /** Messages cut from the middle. */
  snipped: number;
  /** Messages that went into the summary. */
  summarised: number;
  focus: string;
  /** Ways that did not work, and why. */
  skipped: string[];
  cost?: Optional<number>;
  /** Whose way it was: a policy's name, or `user` where the user took something out by hand. */
  policy?: Optional<string>;
  /** Files that the user took out with it. */
  excludedFiles?: Optional<string[]>;
  /** About how many dollars one that was made before the threshold was to save. */
  saves?: Optional<number>;
  fetchedAgain?: Optional<FetchedAgain>;
  checked?: Optional<Checked>;
  error: string;
}

export type Fate = "kept" | "clipped" | "cleared" | "snipped" | "summarised" | "pinned";

/** One part of what the model sees now, and what would become of it. */
export interface PreviewLine {
  itemId?: Optional<string>;
  /** The first three are messages; what a compaction or an exclusion left is a record. */
  role: "user" | "assistant" | "tool" | "notice" | "record";
  title: string;
  tokensBefore: number;
  tokensAfter: number;
  fate: Fate;
}

/** Dollars: of the summary's call, of the very next request, and of each one after it, without a compaction and with. */
export interface PreviewCost {
  summary: number;
  nextBefore: number;
  nextAfter: number;
  laterBefore: number;
  laterAfter: number;
  /** What the price of the summary rests on, in words. */
  estimate?: Optional<string>;
}

export interface Preview {
  policy: string;
  way: CompactionWay;
  tokensBefore: number;
  tokensAfter: number;
  threshold: number;
  cost?: Optional<PreviewCost>;
  /** What the program would write. */
  summary: string;
  cleared: number;
  snipped: number;
  summarised: number;
  lines: PreviewLine[];
  restored: RestoredFile[];
  /** Why nothing would change; the rest is empty then. */
  nothing?: Optional<string>;
}

/** What no compaction touches. */
export interface Pins {
  itemIds: string[];
  paths: string[];
}

/** What went on between two compactions. The first one has none before it. */
export interface Epoch {
  number: number;
  at: number;
  current: boolean;
  requests: number;
  compactionId?: Optional<string>;
  status?: Optional<"active" | "undone">;
  trigger?: Optional<CompactionTrigger>;
  way?: Optional<CompactionWay>;
  policy?: Optional<string>;
  tokensBefore?: Optional<number>;
  tokensAfter?: Optional<number>;
  /** Of the compaction itself. */
  compactionCost?: Optional<number>;
  /** Of the requests in it. */
  cost?: Optional<number>;
  restored?: Optional<RestoredFile[]>;
  cleared?: Optional<number>;
  snipped?: Optional<number>;
  summarised?: Optional<number>;
  /** Files that the user took out with its compaction. */
  excludedFiles?: Optional<string[]>;
  /** After its compaction. */
  fetchedAgain?: Optional<FetchedAgain>;
}

export interface ItemFate {
  itemId: string;
  fate: Fate;
  compactionId?: Optional<string>;
  /** This and what follows in `epochFates` alone. */
  role?: Optional<PreviewLine["role"]>;
  title?: Optional<string>;
  /** The file of a result that was read again in its place. */
  restored?: Optional<string>;
}

/** Of the messages of an epoch: what its compaction did, what was set aside or out of view before, what stayed as it was. */
export type FateGroup = "changed" | "before" | "kept";

/** How many messages each group has, and some of one. */
export type EpochFates = Record<FateGroup, number> & { fates: ItemFate[] };

/** Of a part of the context: a tool's definition, a call with its result, what the gauge counts and no part shows (`rest`), and so on. */
export type ContextPartKind = FixedKind | "summary" | "file" | "prompt" | "reply" | "call" | "report" | "image" | ToldKind | "rest";

/** Of what precedes the messages, and `rules` that were met on the way. */
type FixedKind = "system" | "server" | "rules" | "tool";

/** Of what the program tells the model: of commands that go on, what hooks say, and all else. */
type ToldKind = "command" | "hook" | "notice";

export interface ContextPart {
  kind: ContextPartKind;
  /** Empty where the kind says all. */
  title: string;
  tokens: number;
  /** The next request reads it from the prompt cache, while that is warm. */
  sent: boolean;
  itemId?: Optional<string>;
  /** Absent of what precedes the messages. */
  turnsAgo?: Optional<number>;
  /** The files whose text stands in it. */
  paths?: Optional<string[]>;
  /** Whether a later call in view read or changed one of them. */
  touchedSince?: Optional<boolean>;
  pinned?: Optional<boolean>;
  /** A placeholder stands for what was excluded. */
  excluded?: Optional<boolean>;
  /** Of a result that can be cleared: tokens that this frees. */
  clearFrees?: Optional<number>;
  /** Dollars that the next request then takes more, while the cache is warm: what comes after the result is sent anew. */
  clearCost?: Optional<number>;
}

export interface ContextKind {
  kind: ContextPartKind;
  count: number;
  tokens: number;
}

export interface CacheClock {
  /** Seconds from `startedAt` on. */
  lives: number;
  /** Tokens of the next request: from the cache while it is warm, and sent anew. */
  read: number;
  anew: number;
  /** When the newest request was sent (Unix seconds); absent where nothing of it serves the next one. */
  startedAt?: Optional<number>;
  /** Dollars of the next request's input. */
  warmCost?: Optional<number>;
  coldCost?: Optional<number>;
  compactWarmCost?: Optional<number>;
  compactColdCost?: Optional<number>;
}

export type CacheMissReason = AskedOtherwise | "compaction" | "undone" | "redone" | "excluded" | "expired" | "evicted";

/** What was asked for, or what precedes the messages, was another. */
type AskedOtherwise = "model" | "effort" | "system" | "rules" | "tools";

export interface CacheMiss {
  at: number;
  /** Sent anew for that. */
  tokens: number;
  reasons: CacheMissReason[];
  /** Seconds since the request before. */
  idle: number;
  itemId?: Optional<string>;
  /** Dollars more for that. */
  cost?: Optional<number>;
  /** What was changed, as the lines of a diff. */
  change?: Optional<string>;
}

export interface ContextQuery {
  order?: Optional<"largest" | "newest" | "oldest">;
  ofKind?: Optional<ContextPartKind>;
  only?: Optional<"pinned" | "excluded" | "untouched" | "new">;
  text?: Optional<string>;
  offset?: Optional<number>;
  limit?: Optional<number>;
  /** What the user is typing: it is counted with the next request. */
  draft?: Optional<string>;
}

/** The tokens of all parts together are `used`, and so are those of `kinds`. */
export interface ContextFill {
  used: number;
  threshold: number;
  size: number;
  estimatedTokens: number;
  kinds: ContextKind[];
  /** Empty behind the first page, as `misses`. */
  largest: ContextPart[];
  /** How many parts there are of those that were asked for. */
  total: number;
  parts: ContextPart[];
  cache: CacheClock;
  requests: number;
  /** Of `requests`, those that missed the cache. */
  missed: number;
  misses: CacheMiss[];
  /** Dollars for a token that is read from the cache, and for one that is sent anew. */
  readPrice?: Optional<number>;
  writePrice?: Optional<number>;
}

export interface SearchHit {
  sessionId: string;
  sessionTitle: string;
  itemId?: Optional<string>;
  at: number;
  what: string;
  excerpt: string;
}

export interface NoticeItem {
  kind: "notice";
  id: string;
  at: number;
  level: "info" | "warning" | "error";
  text: string;
  action: "continue" | "set_key" | "settings" | "choose_model" | "hooks" | "none";
}

export type Item = UserItem | AssistantItem | ThinkingItem | ToolCallItem | CompactionItem | NoticeItem;

export interface GaugeCategory {
  name: string;
  tokens: number;
}

/** A compaction before the threshold that would save about so many dollars. */
export interface EarlySaving {
  /** The earliest: with the next prompt, or once nobody asks for some minutes, and with the prompt after that. */
  when: "prompt" | "pause";
  dollars: number;
  postponed?: Optional<"turn" | "session">;
}

/** For how long nothing is compacted to save; `none` takes that back. */
export type Postpone = "turn" | "session" | "none";

/** When the next compaction comes by itself: before a call that holds `at` tokens, as `why` says; never without `at`. */
export interface NextCompaction {
  why: "threshold" | "window" | "undone" | "grown" | "unanswered" | "failed" | "off";
  at?: Optional<number>;
  /** A pause in typing is enough, since the next turn would usually reach it. */
  whileEditing?: Optional<boolean>;
  saving?: Optional<EarlySaving>;
}

export interface Gauge {
  /** The very number that the trigger compares with `threshold`. */
  used: number;
  /** Where it compacts: 100 %. */
  threshold: number;
  /** The model's window. */
  size: number;
  /** Whether more than a hundredth of `used` is only estimated. */
  estimated: boolean;
  /** Of `used`, the tokens that no reply has reported and the endpoint has not counted. */
  estimatedTokens?: Optional<number>;
  level: "normal" | "warning" | "error";
  /** They add up to all that the context holds: to `used`, where that is measured by usage. */
  categories: GaugeCategory[];
  /** 0 to 1. */
  cacheHitRate?: Optional<number>;
  cost?: Optional<number>;
  /** What a compaction now would free. */
  frees: number;
  freesCost?: Optional<number>;
  /** Dollars more for the next request if nothing of it is read from the prompt cache, as after another effort. */
  anewCost?: Optional<number>;
  next: NextCompaction;
  /** The name of the policy in force. */
  policy: string;
  /** What `used` is measured by. */
  measure: "usage" | "messages" | "characters / 4";
}

/** How much work a model puts into a reply, by the API's own words. */
export type Effort = "low" | "medium" | "high" | "xhigh" | "max";

export interface ModelInfo {
  name: string;
  displayName: string;
  practice: boolean;
  limitsSource: string;
  /** What it can be asked for, least first; absent where it takes none. */
  efforts?: Optional<Effort[]>;
  /** What it is asked for; absent where that is left to it. */
  effort?: Optional<Effort>;
}

export interface PlanEntry {
  content: string;
  status: "pending" | "in_progress" | "completed";
}

export interface RetryInfo {
  attempt: number;
  /** When the call is made again. */
  at: number;
  reason: string;
}

export type ModeId = "ask" | "plan" | "act";

/** A mode that can be chosen. */
export interface SessionMode {
  id: ModeId;
  name: string;
  description: string;
}

/** What the agent may do, and what it could be allowed. */
export interface SessionModes {
  currentModeId: ModeId;
  availableModes: SessionMode[];
}

/** A turn in whose midst the items of a snapshot begin. */
export interface NewestTurn {
  promptId: string;
  turnCost?: Optional<TurnCost>;
}

export interface Snapshot {
  sessionId: string;
  seq: number;
  title: string;
  state: SessionState;
  retry?: Optional<RetryInfo>;
  items: Item[];
  /** How many items precede `items`. */
  earlier: number;
  plan: PlanEntry[];
  gauge: Gauge;
  model: ModelInfo;
  pins?: Optional<Pins>;
  /** Absent where it can only be read. */
  modes?: Optional<SessionModes>;
  forkedFrom?: Optional<ForkOrigin>;
  /** The folder, outside of the workspace, in which what belongs to its sessions is kept. Absent where that is only in memory. */
  storeFolder?: Optional<string>;
  /** Somebody else may have written it: it can be read, and nothing can be done in it. */
  foreign?: Optional<boolean>;
  /** Absent where nothing is open. */
  changes?: Optional<OpenChanges>;
  /** Where the agent works, if that is not the workspace folder. */
  worktree?: Optional<Worktree>;
  /** The newest turn, where its prompt is not among `items`. */
  turn?: Optional<NewestTurn>;
  /** The session that called it, where it is a sub-agent's: it can be read, and only stopped while it works. */
  agentOf?: Optional<string>;
  /** Absent where nothing runs in the background. */
  running?: Optional<RunningCommand[]>;
}

/** A command that goes on in the background, or has ended and the model does not know yet. */
export interface RunningCommand {
  id: string;
  /** The call that began it. */
  toolCallId: string;
  /** Its line, shortened. */
  command: string;
  /** Unix seconds, as `endedAt`. */
  began: number;
  /** That it said; absent where it has said nothing. */
  lastLine?: Optional<string>;
  /** Of `localhost`, on which it listens in its sandbox. */
  ports?: Optional<number[]>;
  /** How it ended: by itself, by a signal, at its time limit, stopped; or it could not be run. Absent while it runs. */
  end?: Optional<"exited" | "killed" | "late" | "stopped" | "failed">;
  endedAt?: Optional<number>;
  exitCode?: Optional<number>;
  /** It has ended in failure, and nobody had it stopped. */
  failed?: Optional<boolean>;
}

/** The session that a fork comes from, with its title of then. It may be gone by now. */
export interface ForkOrigin {
  sessionId: string;
  title: string;
}

/** The prompt that a session was forked before, to be written in another way. */
export interface ForkPrompt {
  text: string;
  attachments: AttachmentRef[];
}

/** A session that was forked. `prompt` is that of the item where it is one. */
export interface ForkResult {
  snapshot: Snapshot;
  prompt?: Optional<ForkPrompt>;
}

export interface SessionSummary {
  sessionId: string;
  title: string;
  updatedAt: number;
  state: SessionState;
  /** Somebody else may have written it: it can be read, and nothing can be done in it. */
  foreign?: Optional<boolean>;
  /** Another window has it open: here it can be forked and renamed, and not opened. */
  openElsewhere?: Optional<boolean>;
  /** Absent where nothing is known, as of one that an earlier version wrote. */
  figures?: Optional<SessionFigures>;
  /** Where its agent works, if that is not the workspace folder. */
  worktree?: Optional<Worktree>;
}

/** Where the agent of a session works. `path` is absolute. */
export interface Worktree {
  path: string;
  branch: string;
}

/** A file that is different in a worktree, and what bringing it back would do to the one in the workspace folder. */
export interface WorktreeFile {
  path: string;
  uri: string;
  homeUri: string;
  action: "write" | "create" | "delete" | "join" | "same";
  /** Why it stays as it is, in words. */
  conflict?: Optional<string>;
}

export interface WorktreeStanding {
  worktree: Worktree;
  files: WorktreeFile[];
  /** Of its branch, beyond the one that it began from. */
  commits: number;
  more?: Optional<boolean>;
  /** Files that were brought last and can be taken back. */
  brought?: Optional<number>;
}

/** What the list says of a session beside its title. */
export interface SessionFigures {
  /** `done`: its last turn has ended, and nobody has looked at it since. */
  status: "idle" | "working" | "waiting" | "done" | "failed" | "interrupted";
  /** Tokens, as the gauge has them, and where it compacts. */
  used?: Optional<number>;
  threshold?: Optional<number>;
  /** Dollars. */
  cost?: Optional<number>;
  /** Files with open changes, and lines. */
  files?: Optional<number>;
  added?: Optional<number>;
  removed?: Optional<number>;
  /** Commands in the background. */
  running?: Optional<number>;
}

/** A turn that is over: of which prompt, and why. */
export interface EndedTurn {
  promptId: string;
  stopReason: "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled" | "error";
}

/** One open change: lines of the text before (`old`) and of the text now, counted from 1. */
export interface Hunk {
  id: string;
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  /** The user typed in it: it is theirs, and is not undone. */
  edited?: Optional<boolean>;
}

/** A file that the agent changed. `added` and `removed` are lines. */
export interface ChangedFile {
  path: string;
  uri: string;
  status: "created" | "modified" | "deleted";
  added: number;
  removed: number;
  binary?: Optional<boolean>;
  /** What is particular about it, for the user. */
  note?: Optional<string>;
  /** Absent where the file can only be kept or undone as a whole, and in lists that do not have them. */
  hunks?: Optional<Hunk[]>;
}

/** What the agent changed and the user has neither kept nor undone. `files` are the first ones, `count` is how many there are. */
export interface OpenChanges {
  files: ChangedFile[];
  count: number;
  added: number;
  removed: number;
  /** The newest turns with open changes, the oldest first, and in how many files. */
  turns?: OpenTurn[] | null;
}

/** A turn with open changes. `turnId` is the id of its prompt. */
export interface OpenTurn {
  turnId: string;
  title: string;
  files: number;
}

/** What one turn changed. `turnId` is the id of its prompt. */
export interface TurnChanges {
  turnId: string;
  title: string;
  at: number;
  files: ChangedFile[];
  /** What may have changed besides, and cannot be gone back to. */
  uncovered: { path: string; why: string }[];
}

/** What came of keeping or undoing changes of a file. `why` says what stands in the way, or what stays. */
export interface DecidedFile {
  path: string;
  outcome: "done" | "conflict";
  why?: Optional<string>;
}

/** A moment that the files can be gone back to: before the turn of a prompt (its id), or `forward` again after that. */
export interface Checkpoint {
  turnId: string;
  title: string;
  at: number;
  /** How many files changed then. */
  files: number;
  forward?: Optional<boolean>;
}

/** What would become of a file. With a `conflict` it stays as it is unless it is named in `overwrite`; where it `stays`, in any case. */
export interface FileBack {
  path: string;
  uri: string;
  action: "write" | "create" | "delete";
  conflict?: Optional<string>;
  stays?: Optional<boolean>;
}

/** All changes, those of a file, one hunk of it, or those of a turn. */
interface Decide {
  path?: Optional<string>;
  hunkId?: Optional<string>;
  turnId?: Optional<string>;
}

export type Update =
  | { kind: "item"; item: Item }
  | { kind: "append"; itemId: string; field: "text" | "output" | "input"; text: string }
  | { kind: "remove"; itemId: string }
  | { kind: "state"; state: SessionState; retry?: Optional<RetryInfo>; ended?: Optional<EndedTurn> }
  | { kind: "gauge"; gauge: Gauge }
  | { kind: "plan"; entries: PlanEntry[] }
  | { kind: "title"; title: string }
  | { kind: "model"; model: ModelInfo }
  | { kind: "pins"; pins: Pins }
  | { kind: "changes"; changes: OpenChanges }
  | { kind: "mode"; currentModeId: ModeId }
  | { kind: "running"; commands: RunningCommand[] };

export interface UpdateParams {
  sessionId: string;
  seq: number;
  update: Update;
}

/** `data` is the base64 of an image that was pasted. */
/** The first and the last line, counted from 1. */
export interface LineRange {
  first: number;
  last: number;
}

export type AttachmentRef =
  /** A file, a folder, or a document that was never saved. */
  | { kind: "file"; uri: string; lines?: Optional<LineRange> }
  /** A text that is in no file; `name` says where it is from. */
  | { kind: "text"; name: string; text: string }
  | { kind: "problems" }
  /** A page of the web, which the server fetches once when the prompt is sent. */
  | { kind: "page"; url: string }
  /** A resource of an MCP server, which the server reads when the prompt is sent. */
  | { kind: "resource"; server: string; uri: string }
  /** The base64 of an image, and the name of the file that was dropped. */
  | { kind: "pasted"; data: string; name?: Optional<string> };

export interface Problem {
  uri: string;
  /** Counts from 1. */
  line: number;
  severity: "error" | "warning" | "information" | "hint";
  source: string;
  message: string;
}

/** A language model of the editor; `id` is the vendor and its own name for the model, `window` tokens of input. */
export interface EditorModel {
  id: string;
  name: string;
  vendor: string;
  window: number;
  images?: Optional<boolean>;
  /** Whether it can call tools; absent where the editor does not say. */
  tools?: Optional<boolean>;
}

/** One message for a language model of the editor. */
export interface ChatMessage {
  role: "user" | "assistant";
  parts: SentPart[];
}

export type SentPart =
  | { kind: "text"; text: string }
  /** `data` is base64. */
  | { kind: "image"; mediaType: string; data: string }
  /** `input` is JSON text. */
  | { kind: "toolCall"; callId: string; name: string; input: string }
  | { kind: "toolResult"; callId: string; text: string };

export type ReplyPart =
  | { kind: "text"; text: string }
  | { kind: "thinking"; text: string }
  | { kind: "toolCall"; callId: string; name: string; input: string };

/** A tool that may be called; `inputSchema` is JSON text. */
export interface ChatTool {
  name: string;
  description: string;
  inputSchema: string;
}

/** Why no whole reply came; `said` are the words of the editor or the vendor. */
export interface ChatFailure {
  reason: "notAllowed" | "blocked" | "quota" | "busy" | "gone" | "other";
  said: string;
}

/** A file with rules, a skill or a command of the project. */
export interface InstructionsFile {
  kind: "rules" | "skill" | "command";
  path: string;
  /** What it takes of every request. */
  tokens: number;
  /** Whether it is in force, and why. */
  why: string;
  /** What a skill or a command is called by. */
  name?: Optional<string>;
  /** What is wrong with it. */
  problem?: Optional<string>;
  importedBy?: Optional<string>;
}

/** What the user decided about a hook: it runs in the sandbox, with all their rights, or never. */
export type HookRuns = "sandbox" | "outside" | "never";

/** What a hook did when it last ran; `tokens` is what it told the agent in this session. */
export interface HookRun {
  at: number;
  seconds: number;
  why: string;
  failed: boolean;
  tokens: number;
  times: number;
}

/** A hook that a file declares. When it is edited it has another id. */
export interface ShownHook {
  id: string;
  event: string;
  matcher: string;
  command: string;
  path: string;
  /** How long it may take. */
  seconds: number;
  runs?: Optional<HookRuns>;
  last?: Optional<HookRun>;
}

/** What a file declares and cannot be run. */
export interface PassedHook {
  event: string;
  command: string;
  path: string;
  why: string;
}

/** Rules, skills, commands and hooks of the project. */
export interface Instructions {
  files: InstructionsFile[];
  hooks: ShownHook[];
  passed: PassedHook[];
  /** Why no hook runs at all. */
  reason?: Optional<string>;
  /** Why no sandbox confines any. */
  noSandbox?: Optional<string>;
}

export type McpState = "off" | "untrusted" | "starting" | "running" | "waiting" | "sign_in" | "failed";

/** A tool of an MCP server, in its own words; `readOnly` is what the server says of it. */
export interface McpTool {
  name: string;
  description: string;
  readOnly?: Optional<boolean>;
}

/** Something of a server that can be attached to a prompt. */
export interface McpResource {
  uri: string;
  name: string;
  description?: Optional<string>;
}

/** An MCP server that is configured. `shown` is its command or its address, `why` why it is not running. Tokens are estimated. */
export interface McpServer {
  name: string;
  source: "settings" | ".mcp.json" | ".vscode/mcp.json";
  state: McpState;
  fingerprint: string;
  /** The user has not decided about it yet. */
  asks: boolean;
  tools: McpTool[];
  resources: McpResource[];
  prompts: number;
  indexTokens: number;
  toolTokens: number;
  kind?: Optional<"stdio" | "http">;
  file?: Optional<string>;
  shown?: Optional<string>;
  host?: Optional<string>;
  why?: Optional<string>;
  signedIn?: Optional<boolean>;
}

/** What a rule is about; one about reading can only refuse. */
export type RuleAction = "command" | "edit" | "host" | "read" | "mcp" | "agent" | "search";
export type RuleScope = "session" | "workspace" | "everywhere";
export type AskFor = "everything" | "notHarmless" | "outsideSandbox";

/** A rule as the user writes it. */
export interface NewRule {
  action: RuleAction;
  pattern: string;
  scope: RuleScope;
  /** It refuses what it is about, in place of allowing it. */
  refuses?: Optional<boolean>;
}

/** Something that the user always allows, or always refuses. Texts are for the user, with backticks around what is literal. */
export interface Allowed {
  action: string;
  pattern: string;
  name: string;
  scope: RuleScope;
  /** What it lets run. */
  explanation: string;
  /** How often it allowed something. */
  used: number;
  since?: Optional<number>;
  lastUsed?: Optional<number>;
  /** What is wide about it. */
  warning?: Optional<string>;
  refuses?: Optional<boolean>;
}

/** What the user wants to be asked about, and what they are asked about. */
export interface Asking {
  wanted: AskFor;
  inForce: AskFor;
  /** Why no sandbox confines commands, where none does. */
  noSandbox?: Optional<string>;
}

/** What the agent asked to do before. */
export interface PastCall {
  text: string;
  times: number;
  /** When it last did. */
  at: number;
  /** Under the rule that is checked and those that there are. */
  allowed: boolean;
  /** By one of these. */
  refused?: Optional<boolean>;
}

/** What is known of a rule before it is saved. */
export interface CheckedRule {
  /** The newest of them. */
  matches: PastCall[];
  matched: number;
  /** How many past calls of its kind there are. */
  of: number;
  /** Why it cannot be a rule. */
  problem?: Optional<string>;
  explanation?: Optional<string>;
  warning?: Optional<string>;
}

/** A model that an endpoint offers. */
export interface OfferedModel {
  name: string;
  displayName: string;
  /** Tokens; absent where nobody tells. */
  window?: Optional<number>;
  /** Dollars per million tokens. */
  prices?: Optional<{ input: number; output: number }>;
}

/** A command that can be sent as a prompt, as the Agent Client Protocol names them. */
export interface AvailableCommand {
  name: string;
  description: string;
  /** What can follow the name. */
  input?: Optional<{ hint: string }>;
  /** The file of the project that it stands in; none where it is Ullage's own. */
  source?: Optional<string>;
}

type Nothing = Record<string, never>;
interface OfSession {
  sessionId: string;
}

/** A session in `.ullage` of the workspace; `waiting` are prompts that were not sent. */
export interface BroughtSession {
  title: string;
  updatedAt: number;
  entries: number;
  waiting: number;
}

/** A folder that is gone, and of which sessions are kept. */
export interface GoneFolder {
  folder: string;
  sessions: number;
  updatedAt: number;
}

/** A session of another program. `here`: its agent worked in this workspace; `size` in bytes, nothing where its file holds several. */
export interface OtherSession {
  id: string;
  program: string;
  title: string;
  file: string;
  updatedAt: number;
  here: boolean;
  version?: Optional<string>;
  folder?: Optional<string>;
  size?: Optional<number>;
}

/** What another program had compacted. Of what was `needed` later `kept` stood in its summary; `shownAgain` came once more, `gone` never. */
export interface OtherCompaction {
  /** Whether its summary can be read: else nothing is known of what it lost. */
  readable: boolean;
  needed: number;
  kept: number;
  shownAgain: number;
  gone: number;
  examples: string[];
  charactersAgain: number;
  at?: Optional<number>;
  automatic?: Optional<boolean>;
  tokensBefore?: Optional<number>;
}

/** What a session of another program was. `tokens` are what it would hold here. */
export interface OtherLooked {
  session: OtherSession;
  prompts: number;
  replies: number;
  calls: number;
  /** Places of its file that could not be read. */
  missing: number;
  /** Parts of kinds that this version does not know. */
  unknown: number;
  /** Whether it was looked at what compactions lost: not in very long ones. */
  measured: boolean;
  compactions: OtherCompaction[];
  tokens: number;
  threshold: number;
  model?: Optional<string>;
  beganAt?: Optional<number>;
  endedAt?: Optional<number>;
}

/** Requests of the client: method → [params, result]. */
export interface ClientRequests {
  "ullage/session/new": [{ worktree?: Optional<boolean> }, Snapshot];
  "ullage/session/list": [Nothing, { sessions: SessionSummary[] }];
  "ullage/session/open": [{ sessionId?: Optional<string> }, Snapshot];
  "ullage/session/snapshot": [OfSession, Snapshot];
  "ullage/session/items": [OfSession & { before: string; limit: number }, { items: Item[]; earlier: number }];
  "ullage/session/fork": [OfSession & { itemId?: Optional<string> }, ForkResult];
  "ullage/session/rename": [OfSession & { title: string }, Nothing];
  "ullage/session/delete": [OfSession, Nothing];
  "ullage/session/close": [OfSession, Nothing];
  "ullage/session/looked": [OfSession, Nothing];
  "ullage/session/leaveRunning": [OfSession & { toolCallId: string }, Nothing];
  "ullage/session/stopCommand": [OfSession & { commandId: string }, Nothing];
  "ullage/session/commandOutput": [OfSession & { commandId: string }, { text: string }];
  "ullage/session/openPort": [OfSession & { commandId: string; port: number }, { port: number }];
  "ullage/session/worktree": [OfSession, WorktreeStanding];
  "ullage/session/bringBack": [OfSession & { paths?: Optional<string[]> }, { files: DecidedFile[] }];
  "ullage/session/takeBack": [OfSession, { files: DecidedFile[] }];
  "ullage/session/removeWorktree": [OfSession, { branch?: Optional<string> }];
  "ullage/session/prompt": [
    OfSession & { text: string; attachments?: Optional<AttachmentRef[]>; delivery?: Optional<"queue" | "steer"> },
    { promptId: string; command?: Optional<{ name: string; sessionId?: Optional<string> }> },
  ];
  "ullage/session/unqueue": [OfSession & { promptId: string }, { attachments: AttachmentRef[] }];
  "ullage/session/cancel": [OfSession, Nothing];
  "ullage/session/continue": [OfSession, Nothing];
  "ullage/session/compact": [OfSession & { focus?: Optional<string> }, { compactionId: string }];
  "ullage/session/postponeCompaction": [OfSession & { until: Postpone }, Nothing];
  "ullage/session/undoCompaction": [OfSession & { compactionId?: Optional<string>; fit?: Optional<boolean> }, { compactionId: string }];
  "ullage/session/redoCompaction": [OfSession & { compactionId?: Optional<string>; fit?: Optional<boolean> }, { compactionId: string }];
  "ullage/session/previewCompaction": [OfSession & { focus?: Optional<string> }, Preview];
  "ullage/session/pin": [OfSession & { itemId?: Optional<string>; path?: Optional<string>; pinned: boolean }, Nothing];
  "ullage/session/clearResult": [OfSession & { itemId: string }, { compactionId: string }];
  "ullage/session/exclude": [OfSession & { itemId?: Optional<string>; path?: Optional<string> }, { compactionId: string }];
  "ullage/session/epochs": [OfSession & { since?: Optional<string> }, { epochs: Epoch[]; fates: ItemFate[] }];
  "ullage/session/epochFates": [
    OfSession & { number: number; group?: Optional<FateGroup>; offset?: Optional<number>; limit?: Optional<number> },
    EpochFates,
  ];
  "ullage/session/context": [OfSession & ContextQuery, ContextFill];
  "ullage/workspace/importable": [Nothing, { brought: BroughtSession[]; tracked: boolean; gone: GoneFolder[] }];
  "ullage/workspace/others": [{ everywhere?: Optional<boolean> }, { sessions: OtherSession[]; more: boolean }];
  "ullage/workspace/lookAtOther": [{ otherId?: Optional<string>; file?: Optional<string> }, OtherLooked];
  "ullage/workspace/goOnWithOther": [{ otherId: string }, Snapshot];
  "ullage/workspace/import": [
    { mine?: Optional<boolean>; fromGone?: Optional<string> },
    { sessions: number; unreadable: number; failures: string[] },
  ];
  "ullage/session/changes": [
    OfSession & { path?: Optional<string>; turnId?: Optional<string> },
    { turns: TurnChanges[]; open: ChangedFile[] },
  ];
  "ullage/session/versionText": [OfSession & { path: string; turnId?: Optional<string> }, { text?: Optional<string> }];
  "ullage/session/keepChanges": [OfSession & Decide, { files: DecidedFile[] }];
  "ullage/session/undoChanges": [OfSession & Decide, { files: DecidedFile[] }];
  "ullage/session/checkpoints": [OfSession, { checkpoints: Checkpoint[] }];
  "ullage/session/previewRestore": [OfSession & { turnId: string }, { files: FileBack[]; uncovered: { path: string; why: string }[] }];
  "ullage/session/restore": [
    OfSession & { turnId: string; what: "files" | "conversation" | "both"; overwrite?: Optional<string[]> },
    { files: DecidedFile[]; fork?: Optional<ForkResult> },
  ];
  "ullage/workspace/search": [{ query: string; limit?: Optional<number> }, { hits: SearchHit[] }];
  "ullage/session/setModel": [OfSession & { model: string }, Nothing];
  "ullage/session/setEffort": [OfSession & { effort: Effort | "default" }, Nothing];
  "ullage/session/export": [OfSession & { format: "markdown" | "jsonl" }, { text: string }];
  "ullage/session/commitMessage": [
    OfSession & { diff: string; newFiles?: Optional<string[]>; recent?: Optional<string[]> },
    { text: string },
  ];
  "ullage/session/setMode": [OfSession & { modeId: ModeId }, Nothing];
  "ullage/permission/respond": [
    OfSession & {
      toolCallId: string;
      permissionId: string;
      optionId: string;
      reason?: Optional<string>;
      rules?: Optional<NewRule[]>;
    },
    Nothing,
  ];
  "ullage/question/respond": [OfSession & { toolCallId: string; questionId: string; answers?: Optional<GivenAnswer[]> }, Nothing];
  "ullage/session/instructions": [OfSession, Instructions];
  "ullage/session/decideHook": [OfSession & { hookId: string; runs?: Optional<HookRuns> }, Nothing];
  "ullage/permission/list": [{ sessionId?: Optional<string> }, { allowed: Allowed[]; asking: Asking }];
  "ullage/permission/forget": [
    { action?: Optional<string>; pattern?: Optional<string>; scope?: Optional<RuleScope>; sessionId?: Optional<string> },
    Nothing,
  ];
  "ullage/permission/allow": [OfSession & { rule: NewRule; replaces?: Optional<NewRule> }, Nothing];
  "ullage/permission/check": [OfSession & { rule: NewRule }, CheckedRule];
  "ullage/mcp/list": [Nothing, { servers: McpServer[]; problems: string[] }];
  "ullage/mcp/turn": [{ name: string; fingerprint: string; on: boolean }, Nothing];
  "ullage/mcp/restart": [{ name: string }, Nothing];
  "ullage/mcp/log": [{ name: string }, { text: string }];
  "ullage/mcp/signIn": [{ name: string }, Nothing];
  "ullage/mcp/signOut": [{ name: string }, Nothing];
  "ullage/command/list": [{ sessionId?: Optional<string> }, { commands: AvailableCommand[] }];
  "ullage/model/list": [{ address?: Optional<string>; provider?: Optional<"anthropic" | "openai" | "editor"> }, { models: OfferedModel[] }];
  "ullage/model/try": [{ model: string; address?: Optional<string>; provider?: Optional<"anthropic" | "openai"> }, Nothing];
}

/** Notifications of the client: method → params. */
export interface ClientNotifications {
  /** Whether that version of an open document has changes that are not saved. */
  "ullage/editor/dirty": { uri: string; version: number; isDirty: boolean };
  /** The editor offers other language models than before. */
  "ullage/editor/modelsChanged": Nothing;
  /** The next parts of a reply. */
  "ullage/editor/chatParts": { chatId: string; parts: ReplyPart[] };
}

/** Notifications of the server: method → params. */
export interface ServerNotifications {
  "ullage/session/update": UpdateParams;
  "ullage/session/listChanged": Nothing;
  "ullage/mcp/changed": Nothing;
  "ullage/session/figures": OfSession & { figures: SessionFigures };
}

/** Requests of the server: method → [params, result]. */
export interface ServerRequests {
  "ullage/editor/diagnostics": [{ uri?: Optional<string> }, { problems: Problem[] }];
  "ullage/editor/models": [Nothing, { models: EditorModel[] }];
  "ullage/editor/chat": [
    { chatId: string; model: string; messages: ChatMessage[]; tools: ChatTool[] },
    { failure?: Optional<ChatFailure> },
  ];
  "ullage/editor/countTokens": [{ model: string; texts: string[] }, { counts: number[] }];
  "ullage/secret/read": [{ key: string }, { value?: Optional<string> }];
  "ullage/secret/keep": [{ key: string; value?: Optional<string> }, Nothing];
}

export type ClientMethod = keyof ClientRequests;
export type ParamsOf<M extends ClientMethod> = ClientRequests[M][0];
export type ResultOf<M extends ClientMethod> = ClientRequests[M][1];

/** Every method by who sends it, so that a test can hold these types, PROTOCOL.md and the fixtures together. */
export const METHODS = {
  clientRequests: namesOf<ClientMethod>({
    "ullage/session/new": true,
    "ullage/session/list": true,
    "ullage/session/open": true,
    "ullage/session/snapshot": true,
    "ullage/session/items": true,
    "ullage/session/fork": true,
    "ullage/session/rename": true,
    "ullage/session/delete": true,
    "ullage/session/close": true,
    "ullage/session/looked": true,
    "ullage/session/leaveRunning": true,
    "ullage/session/stopCommand": true,
    "ullage/session/commandOutput": true,
    "ullage/session/openPort": true,
    "ullage/session/worktree": true,
    "ullage/session/bringBack": true,
    "ullage/session/takeBack": true,
    "ullage/session/removeWorktree": true,
    "ullage/session/prompt": true,
    "ullage/session/unqueue": true,
    "ullage/session/cancel": true,
    "ullage/session/continue": true,
    "ullage/session/compact": true,
    "ullage/session/postponeCompaction": true,
    "ullage/session/undoCompaction": true,
    "ullage/session/redoCompaction": true,
    "ullage/session/previewCompaction": true,
    "ullage/session/pin": true,
    "ullage/session/clearResult": true,
    "ullage/session/exclude": true,
    "ullage/session/epochs": true,
    "ullage/session/epochFates": true,
    "ullage/session/context": true,
    "ullage/workspace/importable": true,
    "ullage/workspace/others": true,
    "ullage/workspace/lookAtOther": true,
    "ullage/workspace/goOnWithOther": true,
    "ullage/workspace/import": true,
    "ullage/session/changes": true,
    "ullage/session/versionText": true,
    "ullage/session/keepChanges": true,
    "ullage/session/undoChanges": true,
    "ullage/session/checkpoints": true,
    "ullage/session/previewRestore": true,
    "ullage/session/restore": true,
    "ullage/workspace/search": true,
    "ullage/session/setModel": true,
    "ullage/session/setEffort": true,
    "ullage/session/export": true,
    "ullage/session/commitMessage": true,
    "ullage/session/setMode": true,
    "ullage/session/instructions": true,
    "ullage/session/decideHook": true,
    "ullage/permission/respond": true,
    "ullage/question/respond": true,
    "ullage/permission/list": true,
    "ullage/permission/forget": true,
    "ullage/permission/allow": true,
    "ullage/permission/check": true,
    "ullage/mcp/list": true,
    "ullage/mcp/turn": true,
    "ullage/mcp/restart": true,
    "ullage/mcp/log": true,
    "ullage/mcp/signIn": true,
    "ullage/mcp/signOut": true,
    "ullage/command/list": true,
    "ullage/model/list": true,
    "ullage/model/try": true,
  }),
  clientNotifications: namesOf<keyof ClientNotifications>({
    "ullage/editor/dirty": true,
    "ullage/editor/modelsChanged": true,
    "ullage/editor/chatParts": true,
  }),
  serverNotifications: namesOf<keyof ServerNotifications>({
    "ullage/session/update": true,
    "ullage/session/listChanged": true,
    "ullage/mcp/changed": true,
    "ullage/session/figures": true,
  }),
  serverRequests: namesOf<keyof ServerRequests>({
    "ullage/editor/diagnostics": true,
    "ullage/editor/models": true,
    "ullage/editor/chat": true,
    "ullage/editor/countTokens": true,
    "ullage/secret/read": true,
    "ullage/secret/keep": true,
  }),
};

/** The compiler refuses a table that misses a name or has one too many. */
function namesOf<Name extends string>(table: Record<Name, true>): readonly Name[] {
  return Object.keys(table) as Name[];
}

/** Code of the errors that are meant for the user; their `data` is `{reason}`. */
export const USER_ERROR_CODE = -32050;
